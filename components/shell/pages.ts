/** Which page of the documentation helps on each page of the application. Every page loads it: it is small. */

/** The page of the documentation for a path of the application; '' is the list of all pages. */
export function helpFor(path: string): string {
  const found = HELP.find(([start]) => path === start || path.startsWith(`${start}/`))
  return found?.[1] ?? ''
}

const HELP: readonly (readonly [start: string, page: string])[] = [
  ['/t', 'inspector'],
  ['/example', 'inspector'],
  ['/open', 'inspector'],
  ['/compare', 'compare'],
  ['/templates', 'template-lab'],
  ['/servers', 'built-in-server'],
  ['/library', 'library'],
  ['/docs', ''],
  ['/', 'playground'],
]

export const helpHref = (path: string): string => `/docs/${helpFor(path)}`.replace(/\/$/, '')
