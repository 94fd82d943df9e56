// Keeps new tabs signed in: the browser copies the tab's storage for `window.open`, but not for a click on a link, so this file opens such links itself.

const isForNewTab = (event: MouseEvent): boolean =>
	event.type === "auxclick" ? event.button === 1 : event.ctrlKey || event.metaKey || event.shiftKey;

export function listenToNewTabs(): void {
	const open = (event: MouseEvent) => {
		const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>("a[href]") : null;
		if (!link || link.origin !== location.origin || !isForNewTab(event)) return;
		event.preventDefault();
		window.open(link.href, "_blank");
	};
	addEventListener("click", open, true);
	addEventListener("auxclick", open, true);
}
