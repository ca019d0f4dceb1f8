/** The pages of the documentation, in the order in which a reader meets them, and their addresses. */

export interface DocPage {
  /** Of its file in docs/, without `.md`. */
  readonly name: string
  readonly title: string
  readonly about: string
}

export const DOC_PAGES: readonly DocPage[] = [
  {
    name: 'playground',
    title: 'Playground',
    about: 'Set up a run, watch its tokens arrive, continue it, take several samples.',
  },
  {
    name: 'inspector',
    title: 'Inspector',
    about: 'Open a trajectory: tokens, marks, colours, keys, messages, charts, trainer arrays.',
  },
  { name: 'find', title: 'Find', about: 'The language of the find bar: text, expressions, numbers, spans.' },
  { name: 'library', title: 'Library', about: 'Find, group, label and delete what is stored.' },
  { name: 'compare', title: 'Compare', about: 'Two trajectories side by side, and what retokenizing changes.' },
  { name: 'chat-templates', title: 'Chat templates', about: 'How templates are rendered, and which ones are known.' },
  {
    name: 'template-lab',
    title: 'Template lab',
    about: 'Edit a template, check its masks, its prefixes and its parsers.',
  },
  {
    name: 'built-in-server',
    title: 'Built-in server',
    about: 'The small model that comes along, and servers of your own.',
  },
  { name: 'formats', title: 'File formats', about: 'What can be opened and exported.' },
  { name: 'storage', title: 'Your data', about: 'Where it is kept, and what a full or damaged disk does.' },
  { name: 'limits', title: 'Limits', about: 'How large files, records and answers may be.' },
  { name: 'trajectory-format', title: 'Trajectory format', about: 'Every field of a trajectory file.' },
  { name: 'push-from-python', title: 'Push from Python', about: 'Send trajectories from a training script.' },
  { name: 'command-line', title: 'Command line', about: 'rollscope drift, doctor, open.' },
  { name: 'upstream-faults', title: 'Faults of servers', about: 'What each fault of a server ends as.' },
  { name: 'security', title: 'Security checks', about: 'What is refused, guarded or shown, and the test of each.' },
  { name: 'architecture', title: 'Architecture', about: 'How the code is laid out.' },
  { name: 'testing', title: 'Testing', about: 'What is tested, and how to run it.' },
  { name: 'divergences', title: 'Divergences', about: 'Where Rollscope differs from strands-sglang, and why.' },
]

/** The name of the file in docs/ that an address below /docs names; undefined: no page can have it. */
export function docName(parts: readonly string[]): string | undefined {
  const isPage = parts.length === 1 || (parts.length === 2 && parts[0] === 'decisions')
  return isPage && parts.every((part) => /^[\w-]+$/.test(part)) ? parts.join('/') : undefined
}

/** Where a link of a page leads within the application; undefined: to a file that it does not show. */
export function docHref(link: string, from: string): string | undefined {
  if (/^https?:\/\//.test(link) || link.startsWith('#')) return link
  const { pathname, hash } = new URL(link, `http://docs/docs/${from}`)
  if (pathname.startsWith('/public/')) return pathname.slice('/public'.length)
  return pathname.startsWith('/docs/') && pathname.endsWith('.md') ? pathname.slice(0, -'.md'.length) + hash : undefined
}

/** The anchor of a heading, as GitHub makes it. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(' ', '-')
