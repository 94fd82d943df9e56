// What takes too long for every run of the tests: `npm run test:long` does all of it, `npm test` a part.

export const isLong = (process.env.SLUICE_TEST_LONG ?? "") !== "";

/** All of them in a long run, else every nth, from the first on. */
export const some = <T>(all: readonly T[], nth: number): T[] => all.filter((_, index) => isLong || index % nth === 0);
