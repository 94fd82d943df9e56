// How a dialog is opened: a native one keeps the focus inside, Escape closes it, and the focus goes back to where it was.

import { useEffect, useRef } from "preact/hooks";

export function useModal(close: () => void) {
	const ref = useRef<HTMLDialogElement>(null);
	useEffect(() => {
		const before = document.activeElement;
		ref.current?.showModal();
		return () => {
			if (before instanceof HTMLElement && before.isConnected) before.focus();
		};
	}, []);
	return { ref, onCancel: close, onClose: close };
}
