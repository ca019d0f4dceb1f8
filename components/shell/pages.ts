/** The pages of the application: which are in the header, and which page of the documentation helps on each. */

interface Page {
  /** The address, or the beginning of the addresses. */
  readonly href: string
  /** The name in the header. Omitted: the header does not list it. */
  readonly label?: string
  /** The page of the documentation; '' is the list of all pages. */
  readonly help: string
}

/** Every page of app/, in the order of the header. */
export const PAGES: readonly Page[] = [
  { href: '/', label: 'Playground', help: 'playground' },
  { href: '/compare', label: 'Compare', help: 'compare' },
  { href: '/templates', label: 'Templates', help: 'template-lab' },
  { href: '/library', label: 'Library', help: 'library' },
  { href: '/servers', label: 'Servers', help: 'built-in-server' },
  { href: '/t', help: 'inspector' },
  { href: '/example', help: 'inspector' },
  { href: '/open', help: 'inspector' },
  { href: '/file', help: 'library' },
  { href: '/docs', help: '' },
]

/** Returns the page of the documentation for a path of the application; '' is the list of all pages. */
export function helpFor(path: string): string {
  const found = PAGES.find(({ href }) => path === href || path.startsWith(`${href}/`))
  return found?.help ?? ''
}

/** Returns the address of the documentation for a path of the application. */
export const helpHref = (path: string): string => `/docs/${helpFor(path)}`.replace(/\/$/, '')
