'use client'
import type { ReactNode } from 'react'
import { DOC_PAGES } from '#components/docs/doc-pages.ts'
import { Link } from './navigation.tsx'
import { Shell } from './shell.tsx'

interface DocsScreenProps {
  /** Name of the page that is shown; undefined: the list of all pages, or one that is not in it. */
  readonly shown: string | undefined
  /** The page; undefined: the list alone. */
  readonly children: ReactNode
}

/** The documentation: its pages, and the one that is read. */
export function DocsScreen({ shown, children }: DocsScreenProps) {
  return (
    <Shell title="Documentation" trajectory={undefined}>
      <div className="flex min-h-0 overflow-y-auto max-lg:flex-col lg:overflow-hidden">
        <nav
          aria-label="Documentation"
          className={`shrink-0 border-line lg:w-64 lg:overflow-y-auto lg:border-r lg:bg-panel lg:p-3.5 ${children === undefined ? 'hidden' : 'max-lg:hidden'}`}
        >
          <ul>
            {DOC_PAGES.map(({ name, title }) => (
              <li key={name}>
                <Link
                  href={`/docs/${name}`}
                  aria-current={name === shown ? 'page' : undefined}
                  className="block rounded-md px-2 py-1 text-dim hover:text-ink aria-[current=page]:bg-accent-soft aria-[current=page]:font-medium aria-[current=page]:text-ink"
                >
                  {title}
                </Link>
              </li>
            ))}
          </ul>
        </nav>
        <main className="min-w-0 flex-1 p-4 lg:overflow-y-auto lg:p-6">
          {children === undefined ? (
            <PageList />
          ) : (
            <>
              <Link
                href="/docs"
                className="mb-3 inline-flex min-h-6 items-center text-accent hover:underline lg:hidden"
              >
                All pages
              </Link>
              {children}
            </>
          )}
        </main>
      </div>
    </Shell>
  )
}

const PageList = () => (
  <div className="max-w-[80ch]">
    <h2 className="mb-3 font-semibold text-xl">Documentation</h2>
    <ul className="grid gap-2">
      {DOC_PAGES.map(({ name, title, about }) => (
        <li key={name}>
          <Link
            href={`/docs/${name}`}
            className="block rounded-md border border-line px-3 py-2 hover:border-line-strong"
          >
            <span className="block font-medium">{title}</span>
            <span className="block text-dim text-xs">{about}</span>
          </Link>
        </li>
      ))}
    </ul>
  </div>
)
