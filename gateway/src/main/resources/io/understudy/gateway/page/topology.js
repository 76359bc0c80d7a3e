// Draws the tree: boxes side by side where there is room, else one below the other; lines between them by their state.
import { dot, empty, html, icon, nothing } from './html.js';
import { duration, rate, whole } from './format.js';
import { HEALTH, nameOf, role } from './members.js';

const SVG = 'http://www.w3.org/2000/svg';

/** The rows that a node's leaves take, and its depth; parents stand in the middle of theirs. */
function flatten(root) {
  const flat = [];
  let row = 1;
  const walk = (node, depth, parent) => {
    const entry = { node, depth, parent, first: row, last: row };
    flat.push(entry);
    node.children.forEach((child) => walk(child, depth + 1, node));
    if (node.children.length === 0) {
      row++;
    }
    entry.last = Math.max(entry.first, row - 1);
  };
  walk(root, 1, null);
  return flat;
}

export function topology(root) {
  if (root === null) {
    return empty('Nothing to show yet');
  }
  const flat = flatten(root);
  const columns = Math.max(...flat.map((entry) => entry.depth));
  return html`<div class="tree" data-columns=${columns}>
    <svg class="lines" aria-hidden="true" focusable="false"></svg>
    <ul class="nodes" aria-label="Data flow">${flat.map((entry) => box(entry))}</ul></div>`;
}

function box({ node, depth, parent, first, last }) {
  return html`<li class="node ${node.kind} ${node.state ?? ''}" data-node=${node.id} data-parent=${parent?.id ?? ''}
      data-depth=${depth} data-first=${first} data-last=${last} data-feed=${node.feed?.state ?? ''}
      data-flows=${node.feed?.perSecond > 0 && node.feed.state !== 'bad' ? 'yes' : 'no'}>
    ${node.feed ? feed(node.feed, parent) : nothing}
    <div class="title">${icon(node.kind === 'core' ? 'etcd' : node.kind)}<span class="name">${node.title}</span>
      ${node.state === null ? nothing : dot(node.state, node.word ?? node.quorum)}</div>
    ${node.state === null || node.state === 'ok' ? nothing : html`<span class="mark ${node.state} standing">${node.word ?? word(node)}</span>`}
    ${node.subtitle ? html`<span class="below">${node.subtitle}</span>` : nothing}
    ${node.members ? html`<ul class="seats">${node.members.filter((member) => member.role !== 'gateway').map(seat)}</ul>` : nothing}
    ${(node.facts ?? []).map((fact) => html`<span class="fact">${fact}</span>`)}
    ${reason(node)}
  </li>`;
}

function reason({ message: text }) {
  return text ? html`<span class="reason" title=${text}>${text}</span>` : nothing;
}

function word(node) {
  if (node.quorum === 'unreachable') {
    return 'no voter reachable';
  }
  if (node.quorum === 'held' && node.alarms.length > 0) {
    return `quorum held, alarm ${node.alarms[0]}`;
  }
  return node.quorum === 'held' ? `quorum held, ${node.healthy}` : node.quorum ? `quorum ${node.quorum}` : 'unknown';
}

function feed({ perSecond, unit, lagMs, state }, parent) {
  if (state === 'bad') {
    return html`<span class="feed cut"><span class="hidden">from ${parent.title}: </span>${icon('cut')}<span class="lag">down</span></span>`;
  }
  return html`<span class="feed"><span class="hidden">from ${parent.title}: </span>
    ${perSecond === null || perSecond === undefined ? nothing
      : html`<span class="flow">${rate(perSecond)}<span class="long"> ${unit} per s</span><span class="short">/s</span></span>`}
    ${lagMs === null || lagMs === undefined ? nothing
      : html`<span class="lag">${duration(lagMs)}<span class="long"> behind</span></span>`}</span>`;
}

function seat(member) {
  return html`<li data-seat=${member.id} class="seat ${role(member)}">${icon(role(member))}
    <span class="seat-name"><span class="name">${nameOf(member)}</span><span class="below">${member.leads ? 'leader' : member.role}${
      member.lag_revisions > 0 ? `, ${whole(member.lag_revisions)} behind` : ''}</span></span>
    ${dot(HEALTH[member.health] ?? 'unknown', member.health)}</li>`;
}

/** Puts the boxes where they belong and draws the lines between them; after each rendering, and when the width changes. */
export function arrange(host) {
  const tree = host.querySelector('.tree');
  if (tree === null) {
    return;
  }
  const columns = Number(tree.dataset.columns);
  tree.classList.toggle('wide', host.clientWidth >= 190 + (columns - 1) * 233);
  const wide = tree.classList.contains('wide');
  const boxes = new Map();
  for (const element of tree.querySelectorAll('.node')) {
    const { depth, first, last } = element.dataset;
    element.style.gridArea = wide ? `${first} / ${depth} / ${Number(last) + 1} / ${depth}` : 'auto';
    boxes.set(element.dataset.node, element);
  }
  const lines = tree.querySelector('.lines');
  const drawn = new Map([...lines.children].map((line) => [line.dataset.line, line]));
  for (const [id, element] of boxes) {
    const parent = boxes.get(element.dataset.parent);
    if (parent === undefined) {
      continue;
    }
    const path = wide ? across(parent, element) : down(parent, element);
    for (const kind of ['line', 'flow']) {
      const key = `${kind} ${id}`;
      const line = drawn.get(key) ?? lines.appendChild(document.createElementNS(SVG, 'path'));
      drawn.delete(key);
      line.dataset.line = key;
      line.setAttribute('class', `${kind} ${element.dataset.feed} ${element.dataset.flows === 'yes' ? 'flows' : ''}`);
      if (line.getAttribute('d') !== path) {
        line.setAttribute('d', path);
      }
    }
  }
  drawn.forEach((line) => line.remove());
}

const LABEL = 84;

function across(parent, child) {
  const x1 = parent.offsetLeft + parent.offsetWidth;
  const y2 = child.offsetTop + child.offsetHeight / 2;
  // From a tall box it leaves where it goes, so that it need not bend.
  const y1 = Math.min(Math.max(y2, parent.offsetTop + 18), parent.offsetTop + parent.offsetHeight - 18);
  const x2 = child.offsetLeft;
  const bend = Math.max(x2 - LABEL, x1 + 8);
  const middle = (x1 + bend) / 2;
  return `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${bend} ${y2}H${x2}`;
}

function down(parent, child) {
  const x = parent.offsetLeft + 14;
  const y1 = parent.offsetTop + parent.offsetHeight;
  const y2 = child.offsetTop + 22;
  return `M${x} ${y1}V${y2 - 6}q0 6 6 6H${child.offsetLeft}`;
}
