// Parts of the page that could not be loaded.

/** The messages of browsers and the bundler. */
const FAILED = /dynamically imported module|importing a module script|unable to preload/i;

export const isLoadFailure = (error: Error): boolean => FAILED.test(error.message);

/** Whether a part is missing permanently. */
export const isOutdated = async (error: Error): Promise<boolean> => isLoadFailure(error) && (await isOtherVersion());

/** Whether the server's page begins with other scripts than this one. */
export async function isOtherVersion(): Promise<boolean> {
  const scripts = [...document.querySelectorAll('script[type=module][src]')].map((script) => script.getAttribute('src') ?? '');
  const page = await fetch('/', { cache: 'no-store' }).then((response) => (response.ok ? response.text() : null), () => null);
  return page !== null && scripts.some((script) => !page.includes(script));
}
