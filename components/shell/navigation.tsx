'use client'
/** Links to other pages. If the application does not respond, the current page stays. */
import NextLink from 'next/link'
import { useRouter } from 'next/navigation'
import { type ComponentProps, createContext, type ReactNode, useContext, useEffect, useEffectEvent } from 'react'
import { type Navigation, useGuardedNavigation } from '#lib/browser/use-guarded-navigation.ts'

const NavigationContext = createContext<Navigation | undefined>(undefined)

/** Provides useNavigation, and handles clicks on plain links of the page. */
export function NavigationProvider({ children }: { readonly children: ReactNode }) {
  const router = useRouter()
  const navigation = useGuardedNavigation((href) => router.push(href))
  const press = useEffectEvent((event: MouseEvent) => {
    const href = pageOf(event)
    if (href === undefined) return
    event.preventDefault()
    void navigation.go(href)
  })
  useEffect(() => {
    // After all others: what a component or a Link has answered is prevented by then.
    window.addEventListener('click', press)
    return () => window.removeEventListener('click', press)
  }, [])
  return <NavigationContext value={navigation}>{children}</NavigationContext>
}

/** Returns the guarded navigation; throws outside the NavigationProvider. */
export function useNavigation(): Navigation {
  const navigation = useContext(NavigationContext)
  if (!navigation) throw new Error('useNavigation needs the navigation provider')
  return navigation
}

/** Next's Link, which first checks that the application responds. */
export function Link({ href, ...props }: Omit<ComponentProps<typeof NextLink>, 'href'> & { readonly href: string }) {
  const { go } = useNavigation()
  return (
    <NextLink
      {...props}
      href={href}
      onNavigate={(event) => {
        event.preventDefault()
        void go(href)
      }}
    />
  )
}

/** Returns the page that a plain click on a link leads to; undefined for a file, another origin or a new window. */
function pageOf(event: MouseEvent): string | undefined {
  const isPlain = event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey)
  const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>('a[href]') : null
  if (!isPlain || event.defaultPrevented || !link || link.target !== '' || link.hasAttribute('download'))
    return undefined
  const { origin, pathname, search, hash } = new URL(link.href)
  const isHere = pathname === window.location.pathname && search === window.location.search
  const isPage = origin === window.location.origin && !pathname.startsWith('/api/') && !pathname.includes('.')
  return isPage && !isHere ? `${pathname}${search}${hash}` : undefined
}
