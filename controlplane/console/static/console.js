// What pages do beyond links and forms: copy buttons, and figures that keep up to date. All works without it.
(() => {
  'use strict';

  const copyOf = (button) => button.parentElement.querySelector('code').textContent;

  const copy = async (button) => {
    const before = button.textContent;
    try {
      await navigator.clipboard.writeText(copyOf(button));
      button.textContent = 'Copied';
    } catch {
      const range = document.createRange();
      range.selectNodeContents(button.parentElement.querySelector('code'));
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      button.textContent = 'Press Ctrl+C';
    }
    setTimeout(() => { button.textContent = before; }, 2000);
  };

  for (const button of document.querySelectorAll('[data-copy]')) {
    button.hidden = false;
    button.addEventListener('click', () => copy(button));
  }

  // A button that was pressed once is not pressed twice, while its page is on the way.
  for (const form of document.querySelectorAll('form[method="post"]')) {
    form.addEventListener('submit', (event) => {
      if (form.dataset.sent) event.preventDefault();
      form.dataset.sent = 'yes';
      setTimeout(() => { delete form.dataset.sent; }, 4000);
    });
  }

  const MOST = 1000; // where counting stops

  const show = (figures) => {
    for (const place of document.querySelectorAll('[data-figure]')) {
      const count = figures[place.dataset.figure];
      if (typeof count !== 'number') continue;
      place.textContent = count >= MOST ? `${MOST.toLocaleString('en')}+` : String(count);
      if (place.classList.contains('count')) place.hidden = count === 0;
    }
    const title = document.title.replace(/^\(\d+\) /, '');
    document.title = figures.held ? `(${figures.held}) ${title}` : title;
  };

  const live = document.querySelector('[data-live]');
  let source = null;

  const listen = () => {
    if (source || document.hidden) return;
    source = new EventSource(live.dataset.live);
    source.addEventListener('waiting', (event) => show(JSON.parse(event.data)));
  };

  const rest = () => {
    if (source) source.close();
    source = null;
  };

  if (live && 'EventSource' in window) {
    document.addEventListener('visibilitychange', () => (document.hidden ? rest() : listen()));
    addEventListener('pagehide', rest);
    listen();
  }
})();
