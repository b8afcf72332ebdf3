// Parts of the page that could not be loaded.

/** As browsers and the bundler say it. */
const FAILED = /dynamically imported module|importing a module script|unable to preload/i;

export const isLoadFailure = (error: Error): boolean => FAILED.test(error.message);

/** Whether a part is gone for good: the server's page begins with other scripts than this one, so it is of another version. */
export async function isOutdated(error: Error): Promise<boolean> {
  if (!isLoadFailure(error)) return false;
  const scripts = [...document.querySelectorAll('script[type=module][src]')].map((script) => script.getAttribute('src') ?? '');
  const page = await fetch('/', { cache: 'no-store' }).then((response) => (response.ok ? response.text() : null), () => null);
  return page !== null && scripts.some((script) => !page.includes(script));
}
