import { Search, X } from 'lucide-react'
import { type KeyboardEvent, type RefObject, useId } from 'react'
import { countText } from '#components/token-view/numbers.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { FindAnswer } from './find-answer.tsx'
import type { FindState } from './use-find.ts'
import type { useHitSteps } from './use-hit-steps.ts'
import type { useQueryField } from './use-query-field.ts'

interface FindFieldProps {
  readonly fieldRef: RefObject<HTMLInputElement | null>
  /** The query that is searched for. */
  readonly query: string
  readonly typing: ReturnType<typeof useQueryField>
  readonly steps: ReturnType<typeof useHitSteps>
  readonly onClear: () => void
  /** Called when Escape leaves the field. */
  readonly onLeave: () => void
  /** Adds the text to the recent queries. */
  readonly onRemember: () => void
}

/** Shows the search field with the number of hits, and below it why a query is invalid. */
export function FindField({ fieldRef, query, typing, steps, onClear, onLeave, onRemember }: FindFieldProps) {
  const id = useId()
  const { text } = typing
  const { state, chosen } = steps
  const submit = (direction: 1 | -1) => {
    onRemember()
    typing.endRecall()
    if (text === query && state.kind === 'done' && !state.isBehind) return steps.step(direction)
    steps.stepWhenFound(direction)
    if (text === query) steps.again()
    else typing.lookFor(text)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    switch (event.key) {
      case 'Enter':
        event.preventDefault()
        submit(event.shiftKey ? -1 : 1)
        return
      case 'ArrowUp':
      case 'ArrowDown':
        event.preventDefault()
        typing.recall(event.key === 'ArrowUp' ? 1 : -1)
        return
      case 'Escape':
        event.preventDefault()
        typing.lookFor(text)
        onLeave()
    }
  }
  return (
    <div
      className="flex min-h-7 min-w-0 grow items-center gap-1.5 rounded-md border border-line bg-raised pl-2 hover:border-line-strong has-[input:focus-visible]:outline-2 has-[input:focus-visible]:outline-accent has-[input:focus-visible]:outline-offset-1 data-faulty:border-bad"
      data-faulty={isFaulty(state) || undefined}
    >
      <Search size={13} aria-hidden className="shrink-0 text-faint" />
      <input
        ref={fieldRef}
        className="peer min-w-0 grow bg-transparent py-0.5 font-mono text-xs outline-none placeholder:font-sans placeholder:text-faint"
        aria-label="Find"
        aria-invalid={isFaulty(state)}
        aria-describedby={`${id}-answer`}
        aria-keyshortcuts="/"
        placeholder="Find text, /expression/, logprob<-3, tool:…"
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        enterKeyHint="search"
        data-find={query}
        value={text}
        onChange={(event) => {
          typing.type(event.target.value)
          steps.stepWhenFound(undefined)
        }}
        onBlur={() => state.hits.length > 0 && onRemember()}
        onKeyDown={onKeyDown}
      />
      <span
        role="status"
        data-find-state={query === '' ? 'none' : state.kind}
        data-hits={state.hits.length / 2}
        className={`shrink-0 whitespace-nowrap text-xs tabular-nums ${isFaulty(state) ? 'text-bad' : 'text-dim'} ${text === '' ? '' : 'pr-1.5'}`}
      >
        {text === '' ? '' : countOf(state, chosen)}
      </span>
      {text !== '' && (
        <button
          type="button"
          aria-label="Clear"
          className="mr-0.5 grid size-6 shrink-0 place-items-center rounded-sm text-dim hover:bg-panel hover:text-ink"
          onClick={onClear}
        >
          <X size={13} aria-hidden />
        </button>
      )}
      <FindAnswer id={`${id}-answer`} state={state} query={query} isStepping={chosen !== undefined} />
    </div>
  )
}

const isFaulty = (state: FindState): boolean =>
  state.kind === 'failed' || (state.kind === 'done' && state.result.kind === 'fault')

function countOf(state: FindState, chosen: number | undefined): string {
  if (state.kind === 'searching') return '…'
  if (state.kind === 'failed') return 'stopped'
  if (state.result.kind === 'fault') return 'invalid query'
  const count = state.hits.length / 2
  if (state.isBehind) return `${countText(count)}, then it grew`
  if (chosen !== undefined) return `${countText(chosen + 1)} of ${countText(count)}`
  return count === 0 ? 'no hits' : countWithNoun(count, 'hit')
}
