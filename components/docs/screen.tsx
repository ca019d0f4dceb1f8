'use client'
import type { ReactNode } from 'react'
import { Link } from '#components/shell/navigation.tsx'
import { Shell } from '#components/shell/shell.tsx'
import { DOC_PAGES, INDEX_PAGE } from './doc-pages.ts'

interface DocsScreenProps {
  /** Name of the page that is shown. The index has no list beside it. */
  readonly shown: string
  readonly children: ReactNode
}

/** The documentation: a list of all pages beside the page that is shown. */
export function DocsScreen({ shown, children }: DocsScreenProps) {
  return (
    <Shell title="Documentation" trajectory={undefined}>
      <div className="flex min-h-0 overflow-y-auto max-lg:flex-col lg:overflow-hidden">
        <nav
          aria-label="Documentation"
          className={`shrink-0 border-line print:hidden lg:w-64 lg:overflow-y-auto lg:border-r lg:bg-panel lg:p-3.5 ${shown === INDEX_PAGE ? 'hidden' : 'max-lg:hidden'}`}
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
          {shown !== INDEX_PAGE && (
            <Link href="/docs" className="mb-3 inline-flex min-h-6 items-center text-accent hover:underline lg:hidden">
              All pages
            </Link>
          )}
          {children}
        </main>
      </div>
    </Shell>
  )
}
