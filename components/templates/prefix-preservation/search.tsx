'use client'
import { useEffect, useRef, useState } from 'react'
import { countText } from '#components/token-view/numbers.ts'
import { Button } from '#components/ui/button.tsx'
import { CopyButton } from '#components/ui/copy-button.tsx'
import { Heading } from '#components/ui/facts.tsx'
import type { DoctorInput } from '#lib/templates/prefix-preservation/doctor.ts'
import type { CauseKind } from '#lib/templates/prefix-preservation/report.ts'
import type { Counterexample, SearchProgress, SearchResult } from '#lib/templates/prefix-preservation/search.ts'
import { InputBanner, TaskBanner } from '../editor/failure-banner.tsx'
import type { LabTabProps } from '../lab-tab.ts'
import { FindingText, Sides } from './finding.tsx'

interface SearchProps extends Pick<LabTabProps, 'run' | 'tokenizer' | 'onLine' | 'onMessages'> {
  readonly input: DoctorInput
}

type SearchState =
  | { readonly kind: 'idle' }
  | { readonly kind: 'running'; readonly progress: SearchProgress | undefined }
  | { readonly kind: 'done'; readonly result: SearchResult }
  | { readonly kind: 'failed'; readonly error: Error }

/** Conversations per search. */
const CASES = 2_000

/** Searches the smallest conversation that is not prefix-preserving. A continued search skips known causes. */
export function Search({ input, run, tokenizer, onLine, onMessages }: SearchProps) {
  const [state, setState] = useState<SearchState>({ kind: 'idle' })
  const [found, setFound] = useState<readonly Counterexample[]>([])
  const [seed, setSeed] = useState(1)
  const [tried, setTried] = useState(0)
  const running = useRef<AbortController>(undefined)
  useEffect(() => () => running.current?.abort(), [])
  const start = async () => {
    const controller = new AbortController()
    running.current = controller
    setState({ kind: 'running', progress: undefined })
    const known: CauseKind[] = found.map(({ finding }) => finding.cause.kind)
    try {
      const result = await run(
        'counterexample',
        { input, seed, cases: CASES, known },
        {
          tokenizers: [tokenizer],
          signal: controller.signal,
          onProgress: (progress) => !controller.signal.aborted && setState({ kind: 'running', progress }),
        },
      )
      if (controller.signal.aborted) return
      setState({ kind: 'done', result })
      setSeed(seed + 1)
      if (result.kind === 'failed') return
      setTried(tried + result.tried)
      if (result.kind === 'found') setFound([result.counterexample, ...found])
    } catch (error) {
      if (controller.signal.aborted) return
      setState({ kind: 'failed', error: error instanceof Error ? error : new Error(String(error)) })
    }
  }
  const cancel = () => {
    running.current?.abort()
    setState({ kind: 'idle' })
    // The next search generates other conversations.
    setSeed(seed + 1)
  }
  const smallest = state.kind === 'running' ? state.progress?.smallest : undefined
  return (
    <section aria-label="Counterexamples" data-search={state.kind} data-found={found.length}>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
        <Heading>Smallest conversation that breaks</Heading>
        <span role="status" className="flex-1 text-dim text-xs tabular-nums">
          {statusText(state, tried, found.length)}
        </span>
        {state.kind === 'running' ? (
          <Button onClick={cancel}>Cancel</Button>
        ) : (
          <Button onClick={start}>{seed === 1 ? 'Search for counterexamples' : 'Keep searching'}</Button>
        )}
      </div>
      {state.kind === 'failed' && <TaskBanner error={state.error} />}
      {state.kind === 'done' && state.result.kind === 'failed' && (
        <InputBanner error={state.result.failure} onLine={onLine} />
      )}
      <ul className="grid gap-3">
        {(smallest ? [smallest, ...found] : found).map((counterexample, index) => (
          <Example
            key={`${counterexample.messages} ${counterexample.finding.cause.kind}`}
            counterexample={counterexample}
            isOpen={index === 0}
            {...{ onLine, onMessages }}
          />
        ))}
      </ul>
    </section>
  )
}

function statusText(state: SearchState, tried: number, found: number): string {
  if (state.kind === 'running') {
    const { progress } = state
    if (!progress) return 'Starting…'
    return progress.smallest
      ? 'Found one. Making it smaller…'
      : `${countText(tried + progress.tried)} conversations tried…`
  }
  if (tried === 0) return 'Generated conversations: thinking, calls, results, whitespace, Unicode, numbers.'
  const all = `${countText(tried)} conversations tried`
  if (state.kind === 'done' && state.result.kind === 'none')
    return found === 0 ? `${all}: none breaks.` : `${all}: none breaks for another cause.`
  return `${all}.`
}

interface ExampleProps extends Pick<LabTabProps, 'onLine' | 'onMessages'> {
  readonly counterexample: Counterexample
  readonly isOpen: boolean
}

function Example({ counterexample, isOpen, onLine, onMessages }: ExampleProps) {
  const { messages, finding, reproduction } = counterexample
  return (
    <li data-counterexample={finding.cause.kind} className="grid gap-2 border-line border-t pt-2">
      <p className="font-mono text-xs [overflow-wrap:anywhere]">{gist(messages)}</p>
      <FindingText finding={finding} onLine={onLine} />
      <details open={isOpen}>
        <summary className="text-dim text-xs">
          Tokens around the first difference ({countText(finding.tokenIndex)})
        </summary>
        <Sides finding={finding} />
      </details>
      <div className="flex flex-wrap items-center gap-2">
        <Button className="text-xs" onClick={() => onMessages(messages, `a counterexample: ${finding.cause.text}`)}>
          Open in the editor
        </Button>
        <CopyButton text={messages}>Copy JSON</CopyButton>
        <CopyButton text={reproduction}>Copy pytest</CopyButton>
      </div>
    </li>
  )
}

/** Returns the messages in one line: role, content, thinking and calls, shortened. */
function gist(messages: string): string {
  const list = JSON.parse(messages) as readonly Readonly<Record<string, unknown>>[]
  return list
    .map(({ role, content, tool_calls: calls, ...rest }) => {
      const thinking = rest.reasoning_content ?? rest.reasoning ?? rest.thinking
      const parts = [
        String(role),
        ...(typeof thinking === 'string' ? [`thinks ${JSON.stringify(thinking)}`] : []),
        JSON.stringify(content),
        ...(Array.isArray(calls) ? [`+ ${calls.length} ${calls.length === 1 ? 'call' : 'calls'}`] : []),
      ]
      return parts.join(' ')
    })
    .join(' · ')
}
