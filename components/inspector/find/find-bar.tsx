'use client'
import { ChevronDown, ChevronUp, CircleHelp, Search, X } from 'lucide-react'
import { type KeyboardEvent, lazy, Suspense, useEffect, useEffectEvent, useId, useRef, useState } from 'react'
import { countText } from '#components/token-view/numbers.ts'
import { IconButton } from '#components/ui/icon-button.tsx'
import { Popover } from '#components/ui/popover.tsx'
import type { InspectorPartProps } from '../inspection.ts'
import { usePanelCommand } from '../selection/panel-commands.ts'
import { FindAnswer } from './find-answer.tsx'
import { chosenHit, selectionOfHit, stepFrom } from './hit-steps.ts'
import { withRecent } from './recent-finds.ts'
import { type FindState, useFind } from './use-find.ts'

const FindHelp = lazy(async () => ({ default: (await import('./find-help.tsx')).FindHelp }))

/** Pause in typing, in milliseconds, after which the query is searched for. */
const REST_MS = 150

interface FindBarProps extends InspectorPartProps {
  /** Recent queries, the latest first. */
  readonly recent: readonly string[]
  readonly onRecent: (recent: readonly string[]) => void
}

/** Shows the search field, the number of hits and the buttons that step through them. */
export function FindBar({ inspection, recent, onRecent }: FindBarProps) {
  const { view, onView, onSelect, inSight, say, grid, offer, onMarks, marks } = inspection
  const field = useRef<HTMLInputElement>(null)
  const id = useId()
  /** `undefined` means the query of the address. */
  const [typed, setTyped] = useState<string>()
  /** Index in the recent queries; −1 for none of them. */
  const [back, setBack] = useState(-1)
  const { state, again } = useFind(inspection)
  const { hits } = state
  const text = typed ?? view.find
  const chosen = chosenHit(hits, view.selection)

  const lookFor = (query: string) => {
    setTyped(undefined)
    if (query !== view.find) onView({ find: query })
  }
  const rested = useEffectEvent((query: string) => lookFor(query))
  useEffect(() => {
    if (typed === undefined) return
    const rest = setTimeout(() => rested(typed), REST_MS)
    return () => clearTimeout(rest)
  }, [typed])

  const mark = useEffectEvent((ranges: Int32Array) => {
    if (ranges.length > 0 || marks.some(({ kind, ranges }) => kind === 'current' && ranges.length > 0))
      onMarks('current', ranges)
  })
  /** Direction of a step that was requested before the result arrived. */
  const wanted = useRef<1 | -1>(undefined)
  const stepWanted = useEffectEvent(() => {
    if (wanted.current !== undefined && hits.length > 0) step(wanted.current)
    if (state.kind === 'done') wanted.current = undefined
  })
  useEffect(() => {
    mark(chosen === undefined ? hits.slice(0, 0) : hits.slice(2 * chosen, 2 * chosen + 2))
    stepWanted()
  }, [chosen, hits])

  const step = (direction: 1 | -1) => {
    const next = stepFrom(hits, view.selection, inSight, direction)
    if (!next) return
    onSelect(selectionOfHit(hits, next.hit), 'tokens')
    if (next.isAround)
      say(direction === 1 ? 'The search continued from the first hit.' : 'The search continued from the last hit.')
  }
  usePanelCommand(offer, 'find', () => {
    field.current?.focus()
    field.current?.select()
  })
  usePanelCommand(offer, 'next-hit', hits.length > 0 ? () => step(1) : undefined)
  usePanelCommand(offer, 'previous-hit', hits.length > 0 ? () => step(-1) : undefined)

  const recall = (times: number) => {
    const query = recent[times]
    if (query === undefined && times !== -1) return
    setBack(times)
    setTyped(query ?? '')
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    switch (event.key) {
      case 'Enter':
        event.preventDefault()
        onRecent(withRecent(recent, text))
        setBack(-1)
        if (text === view.find && state.kind === 'done' && !state.isBehind) return step(event.shiftKey ? -1 : 1)
        wanted.current = event.shiftKey ? -1 : 1
        if (text === view.find) again()
        else lookFor(text)
        return
      case 'ArrowUp':
      case 'ArrowDown':
        event.preventDefault()
        recall(event.key === 'ArrowUp' ? back + 1 : Math.max(-1, back - 1))
        return
      case 'Escape':
        event.preventDefault()
        lookFor(text)
        grid.current?.focus()
    }
  }
  return (
    <search className="relative flex min-w-0 grow items-center gap-0.5 lg:max-w-xl">
      <div
        className="flex min-h-7 min-w-0 grow items-center gap-1.5 rounded-md border border-line bg-raised pl-2 focus-within:border-line-strong hover:border-line-strong data-faulty:border-bad"
        data-faulty={isFaulty(state) || undefined}
      >
        <Search size={13} aria-hidden className="shrink-0 text-faint" />
        <input
          ref={field}
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
          data-find={view.find}
          value={text}
          onChange={(event) => {
            setTyped(event.target.value)
            setBack(-1)
            wanted.current = undefined
          }}
          onBlur={() => hits.length > 0 && onRecent(withRecent(recent, text))}
          onKeyDown={onKeyDown}
        />
        <span
          role="status"
          data-find-state={view.find === '' ? 'none' : state.kind}
          data-hits={hits.length / 2}
          className={`shrink-0 whitespace-nowrap text-xs tabular-nums ${isFaulty(state) ? 'text-bad' : 'text-dim'} ${text === '' ? '' : 'pr-1.5'}`}
        >
          {text === '' ? '' : countOf(state, chosen)}
        </span>
        {text !== '' && (
          <button
            type="button"
            aria-label="Clear"
            className="mr-0.5 grid size-6 shrink-0 place-items-center rounded-sm text-dim hover:bg-panel hover:text-ink"
            onClick={() => {
              lookFor('')
              field.current?.focus()
            }}
          >
            <X size={13} aria-hidden />
          </button>
        )}
        <FindAnswer id={`${id}-answer`} state={state} query={view.find} isStepping={chosen !== undefined} />
      </div>
      <IconButton label="Previous hit (⇧ Enter)" disabled={hits.length === 0} onClick={() => step(-1)}>
        <ChevronUp size={15} aria-hidden />
      </IconButton>
      <IconButton label="Next hit (Enter)" disabled={hits.length === 0} onClick={() => step(1)}>
        <ChevronDown size={15} aria-hidden />
      </IconButton>
      <Popover label="Search help" button={<CircleHelp size={15} aria-hidden />}>
        <Suspense>
          <FindHelp
            trajectory={inspection.trajectory}
            recent={recent}
            onChoose={(query) => {
              lookFor(query)
              field.current?.focus()
            }}
            onForget={() => onRecent([])}
          />
        </Suspense>
      </Popover>
    </search>
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
  return count === 0 ? 'no hits' : `${countText(count)} ${count === 1 ? 'hit' : 'hits'}`
}
