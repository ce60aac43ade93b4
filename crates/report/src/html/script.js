// Finding and unfolding; without scripts the page is complete, only without these.
'use strict';
const tools = document.getElementById('tools');
const box = document.getElementById('find');
const told = document.getElementById('told');
const objects = Array.from(document.querySelectorAll('.object'));
const texts = new Map();
const textOf = (object) => {
  if (!texts.has(object)) texts.set(object, object.textContent.toLowerCase());
  return texts.get(object);
};
const find = () => {
  const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const object of objects) {
    object.hidden = !words.every((word) => textOf(object).includes(word));
    if (!object.hidden) shown += 1;
  }
  told.textContent = words.length ? `${shown} of ${objects.length}` : '';
};
const fold = (open) => {
  for (const object of objects) {
    if (object.hidden || object.tagName !== 'DETAILS') continue;
    object.open = open;
    for (const inner of object.querySelectorAll('details')) inner.open = open;
  }
};
const follow = () => {
  const hash = decodeURIComponent(location.hash.slice(1));
  if (hash.startsWith('find=')) {
    box.value = hash.slice(5);
    find();
  } else if (hash === 'all') {
    fold(true);
  } else {
    const target = hash && document.getElementById(hash);
    if (target && target.tagName === 'DETAILS') target.open = true;
  }
};
if (tools) {
  let waiting = 0;
  box.addEventListener('input', () => {
    clearTimeout(waiting);
    waiting = setTimeout(find, 120);
  });
  document.getElementById('unfold').addEventListener('click', () => fold(true));
  document.getElementById('fold').addEventListener('click', () => fold(false));
  addEventListener('hashchange', follow);
  tools.hidden = false;
  follow();
}
