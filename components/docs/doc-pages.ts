/** The pages of the documentation in the order of docs/README.md, which is their index, and their addresses. */

/** A page of the documentation. */
export interface DocPage {
  /** File name in docs/, without `.md`. */
  readonly name: string
  readonly title: string
}

/** Name of the page that lists all other pages. */
export const INDEX_PAGE = 'README'

/** All pages besides the index, in its order. */
export const DOC_PAGES: readonly DocPage[] = [
  { name: 'playground', title: 'Playground' },
  { name: 'inspector', title: 'Inspector' },
  { name: 'find', title: 'Find' },
  { name: 'branches', title: 'Branches' },
  { name: 'value-curve', title: 'Find where a rollout was lost' },
  { name: 'harness', title: 'See what your harness really sends' },
  { name: 'sessions', title: 'Sessions' },
  { name: 'groups', title: 'Read a GRPO group' },
  { name: 'library', title: 'Library' },
  { name: 'compare', title: 'Compare' },
  { name: 'template-lab', title: 'Template lab' },
  { name: 'push-from-python', title: 'Push from Python' },
  { name: 'trainer-numbers', title: 'The trainer’s numbers' },
  { name: 'formats', title: 'File formats' },
  { name: 'command-line', title: 'Command line' },
  { name: 'engines', title: 'Engines' },
  { name: 'built-in-server', title: 'Built-in server' },
  { name: 'glossary', title: 'Glossary' },
  { name: 'limits', title: 'Limits' },
  { name: 'storage', title: 'Your data' },
  { name: 'trajectory-format', title: 'Trajectory format' },
  { name: 'chat-templates', title: 'Chat templates' },
  { name: 'upstream-faults', title: 'Server faults' },
  { name: 'divergences', title: 'Divergences' },
  { name: 'security', title: 'Security checks' },
  { name: 'architecture', title: 'Architecture' },
  { name: 'performance', title: 'Performance' },
  { name: 'testing', title: 'Testing' },
]

/** Returns the name of the file in docs/ for an address below /docs; undefined if no page can have that address. */
export function docName(parts: readonly string[]): string | undefined {
  if (parts.length === 0) return INDEX_PAGE
  const isPage = parts.length === 1 || (parts.length === 2 && parts[0] === 'decisions')
  return isPage && parts.every((part) => /^[\w-]+$/.test(part)) ? parts.join('/') : undefined
}

/** Returns the address in the application for a link of a page; undefined for a file that the application does not show. */
export function docHref(link: string, from: string): string | undefined {
  if (/^https?:\/\//.test(link) || link.startsWith('#')) return link
  const { pathname, hash } = new URL(link, `http://docs/docs/${from}`)
  if (pathname.startsWith('/public/')) return pathname.slice('/public'.length)
  if (pathname === `/docs/${INDEX_PAGE}.md`) return `/docs${hash}`
  return pathname.startsWith('/docs/') && pathname.endsWith('.md') ? pathname.slice(0, -'.md'.length) + hash : undefined
}

const PICTURE = /^pictures\/[\w-]+\.png$/

/** Returns the address of a picture of a page; undefined for an image that is not in docs/pictures. */
export const pictureHref = (link: string): string | undefined => (PICTURE.test(link) ? `/docs/${link}` : undefined)

/** Returns the anchor of a heading, in the form of GitHub. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(' ', '-')
