// Asks who the user is, where the source has users; and says it in the header.
import { html, icon, mark, nothing } from './html.js';
import { session } from './session.js';

let asked = false;

function submit(event) {
  event.preventDefault();
  const form = event.target;
  asked = false;
  session.signIn(form.elements.user.value, form.elements.password.value);
  form.elements.password.value = '';
}

/** On the user's own wish. */
export function openLogin() {
  asked = true;
}

/** Whom the gateway does not know yet, or may not show all of it. */
export function login({ link: { phase, message: reason } }, show) {
  if (phase === 'refused' && !asked) {
    return html`<div class="card login" data-login="refused">
      <h2>${icon('key')} The cluster view requires the role root</h2>
      <p>${session.user() ? `${session.user()} is not` : 'You are not'} permitted to view the cluster: <span class="reason">${reason}</span>.
        <a href="#keys">Keys</a> remain available with your own permissions.</p>
      <button type="button" @click=${() => { openLogin(); show(); }}>Sign in as another user</button></div>`;
  }
  if (phase !== 'needed' && !asked) {
    return nothing;
  }
  return html`<form class="card login" data-login="needed" @submit=${submit} autocomplete="on">
    <h2>${icon('key')} Sign in</h2>
    <p>The source cluster requires authentication. The login is stored in this tab only.</p>
    ${reason && session.user() ? html`<p class="refused" role="alert">${mark('bad', `Sign-in as ${session.user()} failed`)}
      <span class="reason">${reason}</span></p>` : nothing}
    <label>User <input name="user" autocomplete="username" required spellcheck="false" autocapitalize="none"></label>
    <label>Password <input name="password" type="password" autocomplete="current-password" required></label>
    <button type="submit" class="primary">Sign in</button></form>`;
}

export function controls(pulse, theme, show) {
  const user = session.user();
  const next = theme.current() === 'dark' ? 'light' : 'dark';
  return html`${pulse}
    ${user === null ? nothing
      : html`<button type="button" class="quiet" @click=${() => session.signOut()}><span class="login-user">${user}</span> Sign out</button>`}
    <button type="button" class="quiet round" aria-label="Use the ${next} theme" title="Use the ${next} theme"
      @click=${() => { theme.toggle(); show(); }}>${icon(next === 'dark' ? 'moon' : 'sun')}</button>`;
}
