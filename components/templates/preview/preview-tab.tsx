'use client'
/** The render of the conversation as tokens and text, redrawn during typing. */

import { useEffect, useMemo, useState } from 'react'
import { TokenGrid } from '#components/token-view/grid/token-grid.tsx'
import { countText } from '#components/token-view/numbers.ts'
import { single } from '#components/token-view/selection.ts'
import { CopyButton } from '#components/ui/copy-button.tsx'
import { Segmented } from '#components/ui/segmented.tsx'
import {
  carriedMask,
  originOf,
  type PreviewMask,
  type RenderPreview,
  tokenAtOffset,
  tokensOfTemplateLine,
} from '#lib/templates/preview/render-preview.ts'
import type { Span } from '#lib/trajectory/format/trajectory.ts'
import { tokenAt } from '#lib/trajectory/tokens/tokens.ts'
import { countWhile } from '#lib/util/bisect.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { CheckStrip } from '../compare/check-strip.tsx'
import { InputBanner, InputLine, TaskBanner } from '../editor/failure-banner.tsx'
import type { LabTabProps } from '../lab-tab.ts'
import { type TaskState, useTask } from '../use-task.ts'
import { PreviewToken } from './preview-token.tsx'
import { PREVIEW_COLOURS, type PreviewColour, previewReading, previewTokens } from './preview-trajectory.ts'

/** Pause before a render in milliseconds. A newer request cancels the render, so the pause only saves the worker from bursts. */
const PAUSE_MS = 20
/** Pause before the prefix mask in milliseconds. It needs many renders, so it does not run between two keystrokes. */
const MASK_PAUSE_MS = 200

/** The tab of the preview. */
export function PreviewTab(props: LabTabProps) {
  const { input, tokenizer, run, cursorLine, view, onView, onCheck, onLine, serverProblem } = props
  const state = useTask(run, 'preview', input, { tokenizers: [tokenizer], pauseMs: PAUSE_MS })
  const result = state.kind === 'done' ? state.result : undefined
  const fresh = result?.kind === 'rendered' ? result.renderPreview : undefined
  const prefix = useTask(run, 'prefixMask', fresh?.mask.kind === 'unknown' ? input : undefined, {
    tokenizers: [tokenizer],
    pauseMs: MASK_PAUSE_MS,
  })
  const mask = fresh && maskOf(fresh, prefix)
  // The last render stays beside an error, and its mask stays until the new one is computed.
  const [drawn, setDrawn] = useState<Drawn>()
  const leftOut = result?.kind === 'rendered' ? result.leftOut : undefined
  if (fresh && (drawn?.fresh !== fresh || drawn.mask !== mask || drawn.leftOut !== leftOut))
    setDrawn({ fresh, mask, renderPreview: withMask(fresh, mask, drawn), leftOut })
  const renderPreview = drawn?.renderPreview
  const requestedAt = state.kind === 'done' ? state.requestedAt : undefined
  useEffect(() => {
    if (requestedAt === undefined) return
    // Performance tools show this measure: the time from the keystroke to the drawn result.
    const frame = requestAnimationFrame(() => performance.measure(MEASURE, { start: requestedAt }))
    return () => cancelAnimationFrame(frame)
  }, [requestedAt])

  const isStale = state.kind === 'failed' || result?.kind === 'refused'
  return (
    <div className="grid h-full grid-rows-[auto_minmax(0,1fr)_auto]">
      <div className="grid gap-px bg-line">
        {state.kind === 'failed' && <TaskBanner error={state.error} />}
        {result?.kind === 'refused' &&
          (renderPreview ? (
            <InputLine error={result.error} onLine={onLine} />
          ) : (
            <InputBanner error={result.error} onLine={onLine} />
          ))}
        {drawn?.leftOut !== undefined && !isStale && (
          <p data-left-out className="border-warn border-l-3 bg-ground px-3.5 py-1.5 text-xs">
            {drawn.leftOut}
          </p>
        )}
      </div>
      {renderPreview ? (
        <Tokens
          renderPreview={renderPreview}
          isStale={isStale}
          isBusy={state.kind === 'running'}
          {...{ tokenizer, cursorLine, view, onView, onLine }}
        />
      ) : (
        <p className="p-4 text-faint" role="status">
          {state.kind === 'running' ? 'Rendering…' : 'Nothing to show yet: the template has not rendered.'}
        </p>
      )}
      <CheckStrip
        key={JSON.stringify([input, tokenizer])}
        serverProblem={serverProblem}
        onAsk={onCheck}
        onShow={({ unit, at }) => {
          const index = unit === 'token' || !renderPreview ? at : tokenAtOffset(renderPreview, at)
          onView({ at: String(index) })
        }}
      />
    </div>
  )
}

/** The shown render and the results from which it was made. */
interface Drawn {
  readonly fresh: RenderPreview
  readonly mask: PreviewMask | undefined
  readonly renderPreview: RenderPreview
  readonly leftOut: string | undefined
}

/** Returns the template's own mask, else the prefix mask; undefined until that is computed. */
function maskOf(fresh: RenderPreview, prefix: TaskState<void, PreviewMask>): PreviewMask | undefined {
  if (fresh.mask.kind === 'known' || prefix.kind === 'failed') return fresh.mask
  return prefix.kind === 'done' ? prefix.result : undefined
}

const withMask = (fresh: RenderPreview, mask: PreviewMask | undefined, before: Drawn | undefined): RenderPreview => ({
  ...fresh,
  mask: mask ?? (before ? carriedMask(before.renderPreview, fresh.ids) : fresh.mask),
})

/** Name of the performance measure from a keystroke to the drawn preview. */
export const MEASURE = 'rollscope: preview'

interface TokensProps extends Pick<LabTabProps, 'tokenizer' | 'cursorLine' | 'view' | 'onView' | 'onLine'> {
  readonly renderPreview: RenderPreview
  /** Whether the render is of an earlier document, because the current one does not render. */
  readonly isStale: boolean
  /** Whether the document is being rendered again. */
  readonly isBusy: boolean
}

function Tokens({ renderPreview, isStale, isBusy, tokenizer, cursorLine, view, onView, onLine }: TokensProps) {
  const [form, setForm] = useState<'tokens' | 'text'>('tokens')
  const [pointed, setPointed] = useState<number>()
  const colour = PREVIEW_COLOURS.find((name) => name === view.colour) ?? 'message'
  const selected = view.at !== undefined && /^\d+$/.test(view.at) ? Number(view.at) : undefined
  const tokens = useMemo(() => previewTokens(renderPreview, tokenizer), [renderPreview, tokenizer])
  const found = useMemo(
    () => (cursorLine === undefined ? [] : tokensOfTemplateLine(renderPreview, cursorLine)),
    [renderPreview, cursorLine],
  )
  const isFound = (index: number) => isWithin(found, index)
  const reading = useMemo(
    () => previewReading(tokens, colour, (index) => isWithin(found, index)),
    [tokens, colour, found],
  )
  const shownToken = tokenAt(tokens.trajectory, selected ?? pointed ?? -1)
  const select = (index: number | undefined) => {
    onView({ at: index === undefined ? undefined : String(index) })
    const origin = index === undefined ? undefined : originOf(renderPreview, index)
    if (origin) onLine(origin.line)
  }
  return (
    <div className="grid min-h-0 grid-rows-[auto_minmax(0,1fr)_auto]">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5 border-line border-b px-3.5 py-2">
        <Segmented
          label="Show"
          value={form}
          onChange={setForm}
          options={[
            { value: 'tokens', text: 'Tokens' },
            { value: 'text', text: 'Text' },
          ]}
        />
        {form === 'tokens' && (
          <Segmented<PreviewColour>
            label="Colour tokens by"
            value={colour}
            onChange={(value) => onView({ colour: value === 'message' ? undefined : value })}
            options={[
              { value: 'message', text: 'Message', title: 'One colour for each message' },
              { value: 'line', text: 'Line', title: 'One colour for each line of the template that writes something' },
              { value: 'mask', text: 'Mask', title: 'Tokens that are trained on' },
              { value: 'none', text: 'Plain', title: 'No colour' },
            ]}
          />
        )}
        <Legend
          renderPreview={renderPreview}
          colour={form === 'tokens' ? colour : 'none'}
          cursorLine={cursorLine}
          found={found}
        />
        <p className="ml-auto text-dim text-xs tabular-nums" data-preview-counts>
          {countWithNoun(renderPreview.ids.length, 'token')} · {countWithNoun(renderPreview.text.length, 'character')}
          {renderPreview.mask.kind === 'known' && <> · {countText(trainedCount(renderPreview.mask.trained))} trained</>}
        </p>
      </div>
      <div
        className={`min-h-0 ${isStale ? 'grayscale' : ''}`}
        aria-busy={isBusy}
        data-preview={isStale ? 'stale' : isBusy ? 'busy' : 'current'}
      >
        {form === 'text' ? (
          <RenderedText text={renderPreview.text} />
        ) : renderPreview.ids.length === 0 ? (
          <p className="p-4 text-faint">The template writes nothing.</p>
        ) : (
          <TokenGrid
            trajectory={tokens.trajectory}
            reading={reading}
            selection={selected === undefined ? undefined : single(selected)}
            shown={selected !== undefined && isFound(selected) ? undefined : found[0]?.start}
            onSelect={(selection) => select(selection?.focus)}
            onPoint={setPointed}
          />
        )}
      </div>
      {form === 'tokens' && (
        <div className="border-line border-t bg-panel px-3.5 py-2 text-xs">
          {shownToken ? (
            <PreviewToken token={shownToken} renderPreview={renderPreview} onLine={onLine} />
          ) : (
            <p className="text-faint">
              Point at a token to see where it comes from; click to show its template line. Arrow keys move, Esc clears
              the selection.
            </p>
          )}
        </div>
      )}
    </div>
  )
}

interface LegendProps {
  readonly renderPreview: RenderPreview
  readonly colour: PreviewColour
  readonly cursorLine: number | undefined
  readonly found: readonly Span[]
}

function Legend({ renderPreview, colour, cursorLine, found }: LegendProps) {
  const count = found.reduce((sum, { start, end }) => sum + end - start, 0)
  return (
    <span className="inline-flex flex-wrap items-center gap-x-3 text-dim text-xs tabular-nums">
      {colour === 'mask' &&
        (renderPreview.mask.kind === 'known' ? (
          <span className="inline-flex items-center gap-1.5">
            <span className="legend-mask" aria-hidden /> trained, by{' '}
            {renderPreview.mask.by === 'generation' ? '{% generation %}' : 'what each reply adds'}
            {renderPreview.mask.broken !== undefined && (
              <span className="text-warn" title="The mask may begin or end at the wrong token there. See Mask.">
                · the prefix breaks at {countWithNoun(renderPreview.mask.broken, 'message')}
              </span>
            )}
          </span>
        ) : (
          <span>unknown: {renderPreview.mask.why}</span>
        ))}
      {cursorLine !== undefined && (
        <span className="inline-flex items-center gap-1.5" data-cursor-line={cursorLine} data-found={count}>
          <span className="legend-found" aria-hidden /> line {cursorLine}:{' '}
          {count === 0 ? 'writes nothing here' : countWithNoun(count, 'token')}
        </span>
      )}
    </span>
  )
}

const isWithin = (ranges: readonly Span[], index: number): boolean => {
  const place = countWhile(ranges.length, (at) => elementAt(ranges, at).end <= index)
  return (ranges[place]?.start ?? Number.POSITIVE_INFINITY) <= index
}

const trainedCount = (trained: Uint8Array): number => trained.reduce((sum, bit) => sum + bit, 0)

/** Most characters shown: a longer text takes the browser seconds to lay out. */
const LONGEST_SHOWN = 300_000

/** The rendered text, to read and copy. */
function RenderedText({ text }: { readonly text: string }) {
  const visibleText = text.slice(0, LONGEST_SHOWN)
  return (
    <div className="grid h-full grid-rows-[auto_minmax(0,1fr)]">
      <p className="flex items-center justify-end gap-3 px-3.5 pt-2 text-faint text-xs">
        {visibleText.length < text.length && (
          <span>
            the first {countText(visibleText.length)} of {countText(text.length)} characters; all of them are copied
          </span>
        )}
        <CopyButton text={text}>Copy text</CopyButton>
      </p>
      <textarea
        readOnly
        aria-label="Rendered text"
        value={visibleText}
        spellCheck={false}
        className="resize-none px-3.5 py-2 font-mono leading-5"
      />
    </div>
  )
}
