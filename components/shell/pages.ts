/** The pages of the application: which are in the header, and which page of the documentation helps on each. */

interface Page {
  /** The address, or the beginning of the addresses. */
  readonly href: string
  /** The name in the header. Omitted: the header does not list it. */
  readonly label?: string
  /** The page of the documentation; '' is the list of all pages. */
  readonly help: string
  /** Whether a pasted text is opened as a file. Pages with inputs take it themselves. */
  readonly opensPasted?: true
}

/** Every page of app/, in the order of the header. */
export const PAGES: readonly Page[] = [
  { href: '/', label: 'Playground', help: 'playground' },
  { href: '/sessions', label: 'Sessions', help: 'sessions' },
  { href: '/compare', label: 'Compare', help: 'compare' },
  { href: '/templates', label: 'Templates', help: 'template-lab' },
  { href: '/library', label: 'Library', help: 'library', opensPasted: true },
  { href: '/servers', label: 'Servers', help: 'built-in-server' },
  { href: '/t', help: 'inspector', opensPasted: true },
  { href: '/example', help: 'inspector', opensPasted: true },
  { href: '/open', help: 'inspector', opensPasted: true },
  { href: '/file', help: 'library', opensPasted: true },
  { href: '/group', help: 'groups', opensPasted: true },
  { href: '/docs', help: '' },
]

/** Id of the place before the content of a page, to which the skip link leads. */
export const CONTENT_ID = 'content'

/** Selects what has the focus of a page on which the user has not moved it. */
export const UNMOVED_FOCUS = `body, main, #${CONTENT_ID}`

const pageAt = (path: string): Page | undefined =>
  PAGES.find(({ href }) => path === href || path.startsWith(`${href}/`))

/** Returns the page of the documentation for a path of the application; '' is the list of all pages. */
export const helpFor = (path: string): string => pageAt(path)?.help ?? ''

/** Returns whether the page at this path opens pasted texts. */
export const opensPasted = (path: string): boolean => pageAt(path)?.opensPasted ?? false

/** Returns the address of the documentation for a path of the application. */
export const helpHref = (path: string): string => `/docs/${helpFor(path)}`.replace(/\/$/, '')
