'use client'
import { useEffect, useRef, useState } from 'react'
import { clipText, countText } from '#components/token-view/numbers.ts'
import { Button } from '#components/ui/button.tsx'
import { visibleText } from '#components/ui/visible-text.ts'
import type { TemplateCheck } from '#lib/api/template-check.ts'

type CheckRenderer = TemplateCheck['renderer']
type Answer =
  | { readonly kind: 'asking' }
  | { readonly kind: 'answered'; readonly check: TemplateCheck }
  | { readonly kind: 'failed'; readonly error: Error & { readonly hint?: string | undefined } }

interface CheckStripProps {
  /** Why the server cannot be asked now; undefined if it can. */
  readonly serverProblem: string | undefined
  readonly onAsk: (renderer: CheckRenderer, signal: AbortSignal) => Promise<TemplateCheck>
  /** Shows the position of a difference. */
  readonly onShow: (difference: NonNullable<TemplateCheck['firstDifference']>) => void
}

const CHECK_RENDERERS: readonly { readonly renderer: CheckRenderer; readonly title: string; readonly hint: string }[] =
  [
    {
      renderer: 'server',
      title: 'Check with the server',
      hint: 'The server renders the conversation with its own template and encodes it (/tokenize).',
    },
    {
      renderer: 'python',
      title: 'Check with my Python',
      hint: 'transformers in the Python of this machine renders this template (ROLLSCOPE_PYTHON).',
    },
  ]

/** Buttons that check the render with other renderers, and their verdicts with the renderer's version. Another document needs another key. */
export function CheckStrip({ serverProblem, onAsk, onShow }: CheckStripProps) {
  const [answers, setAnswers] = useState<Readonly<Partial<Record<CheckRenderer, Answer>>>>({})
  const left = useRef(new AbortController())
  useEffect(() => {
    const controller = new AbortController()
    left.current = controller
    return () => controller.abort()
  }, [])
  const ask = async (renderer: CheckRenderer) => {
    const { signal } = left.current
    const tell = (answer: Answer) => setAnswers((known) => ({ ...known, [renderer]: answer }))
    tell({ kind: 'asking' })
    try {
      const check = await onAsk(renderer, signal)
      if (!signal.aborted) tell({ kind: 'answered', check })
    } catch (error) {
      if (!signal.aborted) tell({ kind: 'failed', error: error instanceof Error ? error : new Error(String(error)) })
    }
  }
  return (
    <section aria-label="Checks" className="grid gap-1.5 border-line border-t px-3.5 py-2 text-xs">
      <div className="flex flex-wrap gap-1.5">
        {CHECK_RENDERERS.map(({ renderer, title, hint }) => (
          <Button
            key={renderer}
            className="text-xs"
            title={hint}
            disabled={answers[renderer]?.kind === 'asking' || (renderer === 'server' && serverProblem !== undefined)}
            onClick={() => ask(renderer)}
          >
            {answers[renderer]?.kind === 'asking' ? 'Checking…' : title}
          </Button>
        ))}
        {serverProblem !== undefined && (
          <span className="min-w-0 self-center text-dim [overflow-wrap:anywhere]">{visibleText(serverProblem)}</span>
        )}
      </div>
      <div role="status" className="grid gap-1.5">
        {CHECK_RENDERERS.map(({ renderer }) => {
          const answer = answers[renderer]
          if (answer?.kind === 'answered') return <Verdict key={renderer} check={answer.check} onShow={onShow} />
          if (answer?.kind === 'failed')
            return (
              <p key={renderer} className="text-bad" data-verdict="failed" data-renderer={renderer}>
                {answer.error.message} {answer.error.hint}
              </p>
            )
          return null
        })}
      </div>
    </section>
  )
}

const MARKS = { same: ['✓', 'text-good'], differs: ['✗', 'text-bad'], unavailable: ['–', 'text-warn'] } as const
const LONGEST = 160

interface VerdictProps extends Pick<CheckStripProps, 'onShow'> {
  readonly check: TemplateCheck
}

function Verdict({ check: { renderer, version, verdict, detail, firstDifference }, onShow }: VerdictProps) {
  const [mark, colour] = MARKS[verdict]
  return (
    <div data-verdict={verdict} data-renderer={renderer}>
      <p>
        <span aria-hidden className={colour}>
          {mark}
        </span>{' '}
        <span className="font-medium">{version ?? (renderer === 'server' ? 'The server' : 'Python')}</span>: {detail}
      </p>
      {firstDifference && (
        <div className="mt-1 grid grid-cols-[auto_minmax(0,1fr)] items-baseline gap-x-3 gap-y-0.5">
          <span className="text-dim">
            here, {firstDifference.unit} {countText(firstDifference.at)}
          </span>
          <code className="truncate font-mono">{JSON.stringify(clipText(firstDifference.ours, LONGEST))}</code>
          <span className="text-dim">there</span>
          <code className="truncate font-mono">{JSON.stringify(clipText(firstDifference.theirs, LONGEST))}</code>
          <Button className="col-span-2 justify-self-start text-xs" onClick={() => onShow(firstDifference)}>
            Show the token
          </Button>
        </div>
      )}
    </div>
  )
}
