import type { ReactNode } from 'react'
import { sentenceCase, visibleText } from './visible-text.ts'

interface BannerProps {
  /** `bad`: something failed; `note`: information, such as why a run ended. */
  readonly tone: 'bad' | 'note'
  readonly title: string
  readonly hint?: string | undefined
  /** Buttons and links that help. */
  readonly children?: ReactNode
}

const TONES = { bad: 'border-bad bg-bad-soft', note: 'border-line-strong bg-panel' } as const

/** Shows a message across the page; `bad` is announced as an alert. Hidden characters become visible. */
export function Banner({ tone, title, hint, children }: BannerProps) {
  return (
    <div
      role={tone === 'bad' ? 'alert' : 'status'}
      className={`flex flex-wrap items-center gap-x-3 gap-y-1.5 border-l-3 px-3.5 py-2.5 ${TONES[tone]}`}
    >
      {/* A long message of a server scrolls, so that the tokens stay visible. */}
      <p className="max-h-40 min-w-0 flex-1 basis-64 overflow-y-auto [overflow-wrap:anywhere]">
        <span className="font-medium">{visibleText(sentenceCase(title))}</span>
        {hint !== undefined && (
          <span className="block text-dim">
            <HintText text={hint} />
          </span>
        )}
      </p>
      {children}
    </div>
  )
}

/**
 * Pages of the documentation and scripts of the application, as texts name them that the page shares with the command line: `docs/formats.md`,
 * `/convert_pt.py`.
 */
const LINKED = /\bdocs\/[a-z-]+\.md\b|(?<!\w)\/convert_pt\.py\b/g

/** Shows advice, in which the names of documents and scripts are links. They open in a new tab, so that the message stays. */
export function HintText({ text }: { readonly text: string }) {
  const fittingText = visibleText(text)
  const parts: ReactNode[] = []
  let end = 0
  for (const { 0: name, index } of fittingText.matchAll(LINKED)) {
    const page = name.replace(/\.md$/, '')
    parts.push(
      fittingText.slice(end, index),
      <a
        key={index}
        href={page.startsWith('/') ? page : `/${page}`}
        target="_blank"
        rel="noopener"
        className="text-accent underline"
      >
        {page}
      </a>,
    )
    end = index + name.length
  }
  return [...parts, fittingText.slice(end)]
}
