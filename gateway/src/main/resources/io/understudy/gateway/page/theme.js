// Runs before the first paint, so that nothing flashes in the other theme.
(() => {
  const KEY = 'understudy.theme';
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const root = document.documentElement;
  const listeners = new Set();

  function stored() {
    try {
      return localStorage.getItem(KEY);
    } catch {
      return null;
    }
  }

  function apply(theme) {
    root.dataset.theme = theme ?? (dark.matches ? 'dark' : 'light');
    listeners.forEach((listener) => listener(root.dataset.theme));
  }

  dark.addEventListener('change', () => apply(stored()));
  apply(stored());

  globalThis.understudyTheme = {
    current: () => root.dataset.theme,
    toggle() {
      const next = root.dataset.theme === 'dark' ? 'light' : 'dark';
      try {
        // What the system says anyway needs no memory: then it is followed when it changes.
        if (next === (dark.matches ? 'dark' : 'light')) {
          localStorage.removeItem(KEY);
        } else {
          localStorage.setItem(KEY, next);
        }
      } catch {
        // Without a memory it lasts as long as the page.
      }
      apply(next);
    },
    onChange: (listener) => listeners.add(listener),
  };
})();
