// Where mirrors read and write, from how they name it.
import { address } from './format.js';

/** A source or target as a mirror names it: 'etcd [URL, …]' or 'kafka HOST:PORT topic NAME'. */
export function place(text) {
  const etcd = /^etcd \[(.*)\]$/.exec(text ?? '');
  if (etcd) {
    const urls = etcd[1].split(',').map((url) => url.trim());
    return { kind: 'etcd', urls, label: `etcd ${address(urls[0])}${urls.length > 1 ? ' …' : ''}`, id: `etcd ${urls.join()}` };
  }
  const kafka = /^kafka (.*) topic (\S+)/.exec(text ?? '');
  if (kafka) {
    return { kind: 'kafka', urls: [], topic: kafka[2], label: `Kafka topic ${kafka[2]}`, id: `kafka ${kafka[1]} ${kafka[2]}` };
  }
  return { kind: 'etcd', urls: [], label: text ?? 'unknown', id: `? ${text}` };
}
