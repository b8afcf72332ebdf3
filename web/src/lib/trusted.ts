// The one door for script addresses under Trusted Types: our own files, nothing else.

interface Policy {
  createScriptURL(url: string): unknown;
}
interface Factory {
  createPolicy(name: string, rules: { createScriptURL: (url: string) => string }): Policy;
}

const factory = (globalThis as { trustedTypes?: Factory }).trustedTypes;
const policy = factory?.createPolicy('planwright', {
  createScriptURL: (url) => {
    if (new URL(url, location.href).origin !== location.origin) throw new TypeError(`a script from elsewhere: ${url}`);
    return url;
  },
});

export function trustedUrl(url: string): string {
  return (policy ? policy.createScriptURL(url) : url) as string;
}
