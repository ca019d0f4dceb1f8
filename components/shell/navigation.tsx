'use client'
/** Links to other pages. If the application does not respond, the current page stays. */
import type { PrefetchKind } from 'next/dist/client/components/router-reducer/router-reducer-types'
import { useRouter } from 'next/navigation'
import { type ComponentProps, createContext, type ReactNode, useContext, useEffect, useEffectEvent } from 'react'
import { type Navigation, useGuardedNavigation } from '#lib/browser/use-guarded-navigation.ts'

const NavigationContext = createContext<Navigation | undefined>(undefined)

/** Provides useNavigation, and handles clicks on plain links of the page. */
export function NavigationProvider({ children }: { readonly children: ReactNode }) {
  const router = useRouter()
  // Only a page of the documents is longer than the window. Scrolling to the beginning of another page would lay it out twice.
  const navigation = useGuardedNavigation((href) => router.push(href, { scroll: href.startsWith('/docs') }))
  const press = useEffectEvent((event: MouseEvent) => {
    const href = pageOf(event)
    if (href === undefined) return
    event.preventDefault()
    void navigation.go(href)
  })
  const expectPage = useEffectEvent((event: PointerEvent) => {
    if (pageOf(event) !== undefined) navigation.expectGo()
  })
  useEffect(() => {
    const ended = new AbortController()
    const { signal } = ended
    // Without a key, nobody sees where the focus is.
    window.addEventListener('keydown', () => void loadFocusKeeper(signal), { once: true, signal })
    window.addEventListener('pointerdown', expectPage, { signal })
    // After all others: what a component or a Link has answered is prevented by then.
    window.addEventListener('click', press, { signal })
    return () => ended.abort()
  }, [])
  return <NavigationContext value={navigation}>{children}</NavigationContext>
}

/** Loads the code that gives a lost focus another place. Without this code, the focus is lost. */
const loadFocusKeeper = (ended: AbortSignal) =>
  import('./keep-focus.ts').then(
    ({ keepFocus }) => keepFocus(ended),
    () => {},
  )

/** Returns the guarded navigation; throws outside the NavigationProvider. */
export function useNavigation(): Navigation {
  const navigation = useContext(NavigationContext)
  if (!navigation) throw new Error('useNavigation needs the navigation provider')
  return navigation
}

/**
 * Link to a page of the application, which first checks that the application responds. The page is requested when the pointer
 * or the focus reaches the link, so that a click does not wait for it.
 */
export function Link({ href, onClick, ...props }: Omit<ComponentProps<'a'>, 'href'> & { readonly href: string }) {
  const { go } = useNavigation()
  const prefetch = usePrefetch()
  return (
    <a
      {...props}
      href={href}
      onPointerEnter={() => prefetch(href)}
      onFocus={() => prefetch(href)}
      onClick={(event) => {
        onClick?.(event)
        if (event.defaultPrevented || !isPlain(event) || event.currentTarget.target !== '') return
        event.preventDefault()
        void go(href)
      }}
    />
  )
}

/** Returns a function that requests a page with its code, so that a later navigation to it waits for neither. */
export function usePrefetch(): (href: string) => void {
  const router = useRouter()
  return (href) => router.prefetch(href, { kind: 'full' as PrefetchKind })
}

const isPlain = (event: Pick<MouseEvent, 'button' | 'metaKey' | 'ctrlKey' | 'shiftKey' | 'altKey'>): boolean =>
  event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey)

/** Returns the page that a plain click on a link leads to; undefined for a file, another origin or a new window. */
function pageOf(event: MouseEvent): string | undefined {
  const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>('a[href]') : null
  if (!isPlain(event) || event.defaultPrevented || !link || link.target !== '' || link.hasAttribute('download'))
    return undefined
  const { origin, pathname, search, hash } = new URL(link.href)
  const isHere = pathname === window.location.pathname && search === window.location.search
  const isPage = origin === window.location.origin && !pathname.startsWith('/api/') && !pathname.includes('.')
  return isPage && !isHere ? `${pathname}${search}${hash}` : undefined
}
