'use client'
import { ChevronDown, ChevronUp } from 'lucide-react'
import { type KeyboardEvent, useEffect, useEffectEvent, useRef, useState } from 'react'
import { clipText, countText } from '#components/token-view/numbers.ts'
import { selectedRange } from '#components/token-view/selection.ts'
import { firstRangeAfter } from '#components/token-view/token-marks.ts'
import { findBytes } from '#lib/analysis/raw/find-bytes.ts'
import type { RawText } from '#lib/analysis/raw/raw-text.ts'
import { jsonPathText } from '#lib/json/json-path.ts'
import { pathAt, placeOf } from '#lib/json/json-place.ts'
import { int32At } from '#lib/util/element-at.ts'
import { sizeText } from '#lib/util/text/size-text.ts'
import { lineAt, textBetween } from '#lib/util/text/text-lines.ts'
import { Button } from '../../ui/button.tsx'
import { copyAndDescribe } from '../../ui/copy-text.ts'
import { IconButton } from '../../ui/icon-button.tsx'
import type { Inspection } from '../inspection.ts'
import { TextView } from '../messages/text-view.tsx'
import { pathOfToken, tokensOfPath } from './json-tokens.ts'

interface RawViewProps {
  readonly inspection: Inspection
  readonly text: RawText
  readonly isIdle: boolean
}

/** Byte offsets of the highlighted value or hit, half-open. */
interface Shown {
  readonly start: number
  readonly end: number
}

/** Shows the JSON text with search, the path of a value, and the tokens that it describes. */
export function RawView({ inspection, text, isIdle }: RawViewProps) {
  const { trajectory, view, onSelect, onSave, say } = inspection
  const [sought, setSought] = useState('')
  const hits = useByteFind(text.bytes, sought)
  const chosen = view.selection && selectedRange(view.selection).start
  const [shown, setShown] = useState<Shown | undefined>(() => placeOfToken(chosen))
  const path = shown === undefined ? undefined : pathAt(text, shown.start)
  const tokens = path && tokensOfPath(trajectory, path)
  const hit =
    shown && hits && hits[2 * firstRangeAfter(hits, shown.start)] === shown.start
      ? firstRangeAfter(hits, shown.start)
      : undefined

  function placeOfToken(token: number | undefined): Shown | undefined {
    const wanted = token === undefined ? undefined : pathOfToken(trajectory, token)
    return wanted && placeOf(text, wanted)
  }
  const step = (direction: 1 | -1) => {
    const count = (hits?.length ?? 0) / 2
    if (!hits || count === 0) return
    const next = firstRangeAfter(hits, shown?.start ?? 0)
    const from = hit ?? (direction === 1 ? next - 1 : next)
    const to = (from + direction + count) % count
    setShown({ start: int32At(hits, 2 * to), end: int32At(hits, 2 * to + 1) })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.nativeEvent.isComposing) return
    event.preventDefault()
    const direction = event.shiftKey ? -1 : 1
    if (hits) step(direction)
    else wanted.current = direction
  }
  /** Direction of a step that was requested before the result arrived. */
  const wanted = useRef<1 | -1>(undefined)
  const stepWanted = useEffectEvent(() => {
    if (wanted.current !== undefined) step(wanted.current)
    wanted.current = undefined
  })
  useEffect(() => {
    if (hits) stepWanted()
  }, [hits])
  const copy = async (copied: string, what: string) => say(await copyAndDescribe(copied, `${what} copied.`))
  const value = () => {
    const place = path && placeOf(text, path)
    return place ? textBetween(text, place.start, place.end) : ''
  }
  return (
    <section
      aria-label="The file as JSON"
      className="grid h-full min-h-0 grid-cols-[minmax(0,1fr)] grid-rows-[auto_auto_minmax(0,1fr)]"
      data-raw-idle={isIdle}
    >
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1.5 border-line border-b px-3.5 py-1.5">
        <search className="flex min-w-0 grow items-center gap-1 sm:max-w-sm">
          <input
            className="min-h-7 min-w-0 grow rounded-md border border-line bg-raised px-2 py-0.5 font-mono text-xs placeholder:font-sans placeholder:text-faint hover:border-line-strong"
            aria-label="Find in the file"
            placeholder="Find in the file"
            autoComplete="off"
            spellCheck={false}
            value={sought}
            onChange={(event) => {
              wanted.current = undefined
              setSought(event.target.value)
            }}
            onKeyDown={onKeyDown}
          />
          <span
            role="status"
            data-raw-hits={hits ? hits.length / 2 : undefined}
            className="whitespace-nowrap text-dim text-xs tabular-nums"
          >
            {countOf(sought, hits, hit)}
          </span>
          <IconButton label="Previous (⇧ Enter)" disabled={!hits?.length} onClick={() => step(-1)}>
            <ChevronUp size={15} aria-hidden />
          </IconButton>
          <IconButton label="Next (Enter)" disabled={!hits?.length} onClick={() => step(1)}>
            <ChevronDown size={15} aria-hidden />
          </IconButton>
        </search>
        <span className="ml-auto flex flex-wrap items-center gap-1.5">
          <span className="text-dim text-xs tabular-nums">{sizeText(text.bytes.length)}</span>
          <Button className="text-xs" onClick={() => copy(whole(text), 'The file is')}>
            Copy all
          </Button>
          <Button className="text-xs" onClick={() => onSave(whole(text), text.fileName)}>
            Download
          </Button>
        </span>
      </div>
      <div className="flex min-h-9 flex-wrap items-center gap-x-2 gap-y-1 border-line border-b bg-panel px-3.5 py-1 text-xs">
        {path === undefined || shown === undefined ? (
          <span className="text-faint">Click a value to see its path. Arrow keys move between lines.</span>
        ) : (
          <>
            <span className="text-dim tabular-nums">line {countText(lineAt(text, shown.start) + 1)}</span>
            <code data-raw-path className="wrap-anywhere min-w-0">
              {clipText(jsonPathText(path) || 'the whole file', 200)}
            </code>
            <span className="ml-auto flex flex-wrap items-center gap-1.5">
              <Button look="quiet" className="text-xs" onClick={() => copy(jsonPathText(path), 'Path')}>
                Copy path
              </Button>
              <Button look="quiet" className="text-xs" onClick={() => copy(value(), 'Value')}>
                Copy value
              </Button>
              {tokens && (
                <Button
                  className="text-xs"
                  onClick={() => onSelect({ anchor: tokens.end - 1, focus: tokens.start }, 'tokens')}
                >
                  Show{' '}
                  {tokens.end - tokens.start === 1
                    ? `token ${countText(tokens.start)}`
                    : `${countText(tokens.end - tokens.start)} tokens`}
                </Button>
              )}
            </span>
          </>
        )}
        {chosen !== undefined && placeOfToken(chosen)?.start !== shown?.start && (
          <Button look="quiet" className="text-xs" onClick={() => setShown(placeOfToken(chosen))}>
            Go to token {countText(chosen)}
          </Button>
        )}
      </div>
      <TextView
        label="JSON"
        text={text}
        {...(hits && { hits })}
        shown={shown}
        onPlace={(offset) => {
          const place = placeOf(text, pathAt(text, offset))
          setShown({
            start: offset,
            end: place && place.end - offset < LONG ? Math.max(place.end, offset + 1) : offset + 1,
          })
        }}
      />
    </section>
  )
}

/** Longest value in bytes that is highlighted as a whole; of a longer one only the clicked byte is. */
const LONG = 200

const whole = (text: RawText): string => new TextDecoder().decode(text.bytes)

function countOf(sought: string, hits: Int32Array | undefined, hit: number | undefined): string {
  if (sought === '') return ''
  if (!hits) return '…'
  if (hit !== undefined) return `${countText(hit + 1)} of ${countText(hits.length / 2)}`
  return hits.length === 0 ? 'no hits' : `${countText(hits.length / 2)} times`
}

/** Returns the byte offsets at which a text occurs; undefined during the search, which runs in slices so that the page stays responsive. */
function useByteFind(bytes: Uint8Array, text: string): Int32Array | undefined {
  const [found, setFound] = useState<{ readonly of: Uint8Array; readonly text: string; readonly hits: Int32Array }>()
  useEffect(() => {
    const slices = findBytes(bytes, text)
    let timer: ReturnType<typeof setTimeout>
    const go = () => {
      const slice = slices.next()
      if (slice.done) setFound({ of: bytes, text, hits: slice.value })
      else timer = setTimeout(go)
    }
    timer = setTimeout(go, text === '' ? 0 : REST_MS)
    return () => clearTimeout(timer)
  }, [bytes, text])
  return found?.of === bytes && found.text === text ? found.hits : undefined
}

/** Pause in typing, in milliseconds, after which the text is searched for. */
const REST_MS = 120
