/** Sets theme and language before anything is drawn, so that nothing flashes; a plain script for that reason. */
(() => {
  const root = document.documentElement;
  const kept = (name) => {
    try {
      return localStorage.getItem(name);
    } catch {
      return null;
    }
  };
  const theme = kept('tidegate.theme');
  if (theme === 'light' || theme === 'dark') root.dataset.theme = theme;
  const language = kept('tidegate.language') ?? (navigator.language || 'en');
  root.lang = language.toLowerCase().startsWith('zh') ? 'zh-CN' : 'en';
})();
