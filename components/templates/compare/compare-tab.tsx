'use client'
/** Compares two templates or two tokenizers with one conversation: text, tokens, mask, length and cached tokens. */

import { type ReactNode, useId, useState } from 'react'
import { countText, percentText } from '#components/token-view/numbers.ts'
import { Button } from '#components/ui/button.tsx'
import { Heading } from '#components/ui/facts.tsx'
import { Select } from '#components/ui/field.tsx'
import { comparedRevision, revisionName, type TemplateRevision } from '#lib/templates/document/document.ts'
import type { MessageDifference, RevisionComparison, RevisionSide } from '#lib/templates/preview/compare.ts'
import { templateLineAt } from '#lib/templates/preview/render-preview.ts'
import type { TurnCounts } from '#lib/templates/preview/turns.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { InputBanner, TaskBanner } from '../editor/failure-banner.tsx'
import type { LabTabProps } from '../lab-tab.ts'
import { TurnsChart, TurnsStroke } from '../preview/turns-chart.tsx'
import { useTask } from '../use-task.ts'
import { RevisionDiff } from './revision-diff.tsx'

const PAUSE_MS = 150
const TURNS = [8, 16, 32, 64] as const
const DEFAULT_TURNS = 16

/** The A/B tab. */
export function CompareTab({ input, tokenizer, run, revisions, shown, view, onView, onLine }: LabTabProps) {
  const against = comparedRevision(revisions, { shown: input.template, named: view.against })
  const otherTokenizer = view.tokenizer2 || tokenizer
  const turns = TURNS.find((count) => String(count) === view.turns) ?? DEFAULT_TURNS
  const state = useTask(
    run,
    'compare',
    { input, against: against?.template ?? input.template, turns },
    { tokenizers: [tokenizer, otherTokenizer], pauseMs: PAUSE_MS },
  )
  const comparison = state.kind === 'done' ? state.result : state.kind === 'running' ? state.progress : undefined
  const current = revisions.find(({ number }) => number === shown)
  const names = sideNames([against ?? current, current], [otherTokenizer, tokenizer])
  /** Shows a template line. For the other revision the sides are exchanged, so that the comparison remains. */
  const showLine = (side: 0 | 1, line: number) => {
    if (side === 0 && against && against.number !== shown) {
      onView({ against: String(shown) })
      onLine(line, against.number)
    } else onLine(line)
  }
  const isSame = (against?.template ?? input.template) === input.template && otherTokenizer === tokenizer
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] content-start gap-4 p-3.5" data-comparison={state.kind}>
      <div className="flex flex-wrap items-end gap-x-4 gap-y-2">
        <Labelled text="Compare the shown template with">
          {(id) => (
            <Select
              id={id}
              look="tall"
              className="max-w-64"
              value={against?.number ?? ''}
              onChange={(event) => onView({ against: event.target.value || undefined })}
            >
              {!against && <option value="">itself</option>}
              {revisions.toReversed().map(({ number, name, template }) => (
                <option key={number} value={number}>
                  {revisionName({ number, name })}
                  {template === input.template ? ' (the same text)' : ''}
                </option>
              ))}
            </Select>
          )}
        </Labelled>
        <OtherTokenizer
          key={view.tokenizer2 ?? ''}
          tokenizer={tokenizer}
          other={view.tokenizer2}
          onChange={(name) => onView({ tokenizer2: name })}
        />
        <Labelled text="Calls of the model">
          {(id) => (
            <Select id={id} look="tall" value={turns} onChange={(event) => onView({ turns: event.target.value })}>
              {TURNS.map((count) => (
                <option key={count}>{count}</option>
              ))}
            </Select>
          )}
        </Labelled>
      </div>
      {isSame && (
        <p className="text-dim text-xs">
          Both sides are the same. Load a second template (it becomes a revision), change this one, or name another
          tokenizer.
        </p>
      )}
      {state.kind === 'failed' && <TaskBanner error={state.error} />}
      {comparison ? (
        <Report comparison={comparison} names={names} isCounting={state.kind === 'running'} onLine={showLine} />
      ) : (
        state.kind === 'running' && (
          <p className="text-faint" role="status">
            Comparing…
          </p>
        )
      )}
    </div>
  )
}

function Labelled({ text, children }: { readonly text: string; readonly children: (id: string) => ReactNode }) {
  const id = useId()
  return (
    <div className="grid gap-1">
      <label htmlFor={id} className="text-dim text-xs">
        {text}
      </label>
      {children(id)}
    </div>
  )
}

interface OtherTokenizerProps {
  readonly tokenizer: string
  readonly other: string | undefined
  readonly onChange: (name: string | undefined) => void
}

/** Field for the other tokenizer. A name is used when it is complete, because a partial name would be looked up on the Hub. */
function OtherTokenizer({ tokenizer, other, onChange }: OtherTokenizerProps) {
  const [name, setName] = useState(other ?? '')
  return (
    <form
      className="flex items-end gap-1.5"
      onSubmit={(event) => {
        event.preventDefault()
        onChange(name.trim() || undefined)
      }}
    >
      <Labelled text="With the tokenizer">
        {(id) => (
          <input
            id={id}
            className="min-h-8 w-56 rounded-md border border-line bg-raised px-2"
            value={name}
            placeholder={`${tokenizer} (the same)`}
            onChange={(event) => setName(event.target.value)}
          />
        )}
      </Labelled>
      {name.trim() !== (other ?? '') && <Button type="submit">Use</Button>}
      {name.trim() === (other ?? '') && other !== undefined && (
        <Button look="quiet" onClick={() => onChange(undefined)}>
          Same
        </Button>
      )}
    </form>
  )
}

type Names = readonly [string, string]

/** Returns the names of the sides by what differs: the revisions, the tokenizers, or both. */
function sideNames(sides: readonly (TemplateRevision | undefined)[], tokenizers: Names): Names {
  const [left = '', right = ''] = sides.map((revision) => revision && revisionName(revision))
  const [other, chosen] = tokenizers
  if (other === chosen) return [left, right]
  return left === right ? tokenizers : [`${left} (${other})`, `${right} (${chosen})`]
}

interface ReportProps {
  readonly comparison: RevisionComparison
  readonly names: Names
  readonly isCounting: boolean
  readonly onLine: (side: 0 | 1, line: number) => void
}

function Report({ comparison: { sides, differences, turns }, names, isCounting, onLine }: ReportProps) {
  const [left, right] = sides
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-5">
      {right.kind === 'refused' && <InputBanner error={right.error} onLine={(line) => onLine(1, line)} />}
      {left.kind === 'refused' && right.kind !== 'refused' && (
        <InputBanner
          error={{ ...left.error, message: `${left.error.message} (${names[0]})` }}
          onLine={(line) => onLine(0, line)}
        />
      )}
      {differences && left.kind === 'rendered' && right.kind === 'rendered' && (
        <>
          <section aria-label="Sizes">
            <table className="w-full max-w-xl table-fixed text-xs tabular-nums">
              <SidesHead what="What" names={names} />
              <tbody>
                <Numbers name="tokens" left={left.tokens} right={right.tokens} />
                <Numbers name="characters" left={left.text.length} right={right.text.length} />
                <Numbers name="trained tokens" left={left.trained} right={right.trained} />
              </tbody>
            </table>
            <ul className="mt-2 grid gap-0.5 text-dim text-xs">
              <li data-same-text={differences.isSameText}>
                {differences.isSameText ? 'The text is the same.' : 'The text differs.'}
              </li>
              <li>
                {differences.commonPrefix === undefined
                  ? `The tokenizers differ (${left.tokenizer}, ${right.tokenizer}): their ids cannot be compared.`
                  : differences.commonPrefix === left.tokens && left.tokens === right.tokens
                    ? 'The tokens are the same.'
                    : differences.commonPrefix === 1
                      ? 'The first token is the same.'
                      : `The first ${countText(differences.commonPrefix)} tokens are the same.`}
              </li>
              <li>{maskText(differences.mask, names)}</li>
            </ul>
          </section>
          {differences.messages.some(({ tokens: [a, b] }) => a !== b) && (
            <section>
              <Heading>Tokens by message</Heading>
              <Messages rows={differences.messages} names={names} />
            </section>
          )}
          {!differences.isSameText && (
            <section>
              <Heading>
                Text: {names[0]} (−), {names[1]} (+)
              </Heading>
              <RevisionDiff
                left={left.text}
                right={right.text}
                source={{
                  names,
                  lineAt: (side, offset) => templateLineAt((side === 0 ? left : right).origins, offset),
                  onLine,
                }}
              />
            </section>
          )}
        </>
      )}
      {right.kind === 'rendered' && (
        <section aria-busy={isCounting}>
          <Heading>Length and cache, call by call</Heading>
          <TurnsReport sides={sides} turns={turns} names={names} />
        </section>
      )}
    </div>
  )
}

/** Names of the sides in data attributes and keys. */
const SIDES = ['other', 'shown'] as const

function SidesHead({ what, names }: { readonly what: string; readonly names: Names }) {
  return (
    <thead>
      <tr className="text-dim">
        <th className="text-left font-normal">
          <span className="sr-only">{what}</span>
        </th>
        {names.map((name, side) => (
          <th key={SIDES[side]} className="w-[28%] pb-1 pl-3 text-right align-bottom font-medium" title={name}>
            <span className="line-clamp-2 [overflow-wrap:anywhere]">{name}</span>
          </th>
        ))}
        <th className="w-20 pb-1 text-right align-bottom font-medium">difference</th>
      </tr>
    </thead>
  )
}

interface NumbersProps {
  readonly name: string
  readonly left: number | undefined
  readonly right: number | undefined
}

function Numbers({ name, left, right }: NumbersProps) {
  const known = left !== undefined && right !== undefined
  return (
    <tr className="border-line border-t" data-row={name}>
      <th scope="row" className="py-1 text-left font-normal text-dim">
        {name}
      </th>
      <td className="text-right">{left === undefined ? 'unknown' : countText(left)}</td>
      <td className="text-right">{right === undefined ? 'unknown' : countText(right)}</td>
      <td className="text-right font-medium">{known ? signedText(right - left) : ''}</td>
    </tr>
  )
}

const signedText = (difference: number): string =>
  difference === 0 ? '0' : `${difference > 0 ? '+' : '−'}${countText(Math.abs(difference))}`

function maskText(mask: NonNullable<RevisionComparison['differences']>['mask'], [left, right]: Names): string {
  if (!mask) return 'The masks cannot be compared: one of them is unknown.'
  const { compared, onlyLeft, onlyRight } = mask
  if (onlyLeft + onlyRight === 0)
    return `The masks agree on the ${countWithNoun(compared, 'character')} that both have.`
  return `Of the ${countWithNoun(compared, 'character')} that both have, ${countWithNoun(onlyLeft, 'is', 'are')} trained only by ${left}, ${countText(onlyRight)} only by ${right}.`
}

function Messages({ rows, names }: { readonly rows: readonly MessageDifference[]; readonly names: Names }) {
  return (
    <table className="w-full max-w-xl table-fixed text-xs tabular-nums">
      <SidesHead what="Message" names={names} />
      <tbody>
        {rows.map(({ message, role, tokens: [left, right] }) => (
          <tr key={message ?? 'none'} className={`border-line border-t ${left === right ? 'text-faint' : ''}`}>
            <th scope="row" className="py-1 text-left font-normal">
              {message === undefined ? 'outside all messages' : `${message + 1} · ${role}`}
            </th>
            <td className="text-right">{countText(left)}</td>
            <td className="text-right">{countText(right)}</td>
            <td className="text-right font-medium">{signedText(right - left)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

interface TurnsReportProps {
  readonly sides: readonly [RevisionSide, RevisionSide]
  readonly turns: readonly [TurnCounts, TurnCounts]
  readonly names: Names
}

function TurnsReport({ sides, turns, names }: TurnsReportProps) {
  const none = turns.find((counted) => counted.kind === 'none')
  if (none) return <p className="text-dim text-xs">Not counted: {none.why}.</p>
  return (
    <div className="grid gap-3">
      <p className="text-dim text-xs">
        The conversation is repeated, from after its system messages to its last reply. Length is the length of each
        call’s prompt. Kept is the part of the prefix cache (the previous prompt and reply) that the prompt begins with.
      </p>
      <TurnsChart
        lengths={turns.map((counted) => (counted.kind === 'none' ? [] : counted.turns.map(({ tokens }) => tokens)))}
      />
      <table className="w-full max-w-xl text-xs tabular-nums">
        <thead>
          <tr className="text-dim">
            <th className="text-left font-normal">
              <span className="sr-only">Side</span>
            </th>
            <th className="pb-1 pl-3 text-right align-bottom font-medium">calls</th>
            <th className="pb-1 pl-3 text-right align-bottom font-medium">last prompt</th>
            <th className="pb-1 pl-3 text-right align-bottom font-medium">kept, worst</th>
            <th className="pb-1 pl-3 text-right align-bottom font-medium">kept, of all</th>
            <th className="pb-1 pl-3 text-right align-bottom font-medium">computed again</th>
            <th
              className="pb-1 pl-3 text-right align-bottom font-medium"
              title="Counted as in TRL, which renders the conversation before each call: a prompt that changes tokens before the last reply begins a new row"
            >
              training rows
            </th>
          </tr>
        </thead>
        <tbody>
          {turns.map((counted, side) => (
            <TurnsRow key={SIDES[side]} side={side === 0 ? 0 : 1} name={names[side] ?? ''} turns={counted} />
          ))}
        </tbody>
      </table>
      {turns.map(
        (counted, side) =>
          counted.kind === 'refused' &&
          sides[side]?.kind === 'rendered' && (
            <p key={SIDES[side]} className="text-bad text-xs">
              {names[side]}: the repeated conversation does not render at call {counted.turns.length + 1}:{' '}
              {counted.error.className}: {counted.error.message}
            </p>
          ),
      )}
    </div>
  )
}

interface TurnsRowProps {
  readonly side: 0 | 1
  readonly name: string
  readonly turns: TurnCounts
}

function TurnsRow({ side, name, turns }: TurnsRowProps) {
  const counted = turns.kind === 'none' ? [] : turns.turns
  const cached = counted.flatMap((turn) => (turn.cached ? [turn.cached] : []))
  const trainedCount = cached.reduce((sum, one) => sum + one.kept, 0)
  const all = cached.reduce((sum, one) => sum + one.of, 0)
  const worst = cached.reduce((least, one) => Math.min(least, one.of === 0 ? 1 : one.kept / one.of), 1)
  return (
    <tr className="border-line border-t" data-turns={SIDES[side]} data-calls={counted.length}>
      <th scope="row" className="py-1 text-left font-normal [overflow-wrap:anywhere]">
        <TurnsStroke side={side} /> {name}
      </th>
      <td className="text-right">{countText(counted.length)}</td>
      <td className="text-right">{countText(counted.at(-1)?.tokens ?? 0)}</td>
      <td className="text-right">{cached.length > 0 ? percentText(worst) : '–'}</td>
      <td className="text-right">{cached.length > 0 ? percentText(trainedCount / Math.max(1, all)) : '–'}</td>
      <td className="text-right">{countWithNoun(all - trainedCount, 'token')}</td>
      <td className="text-right">{turns.kind === 'none' ? '–' : countText(turns.rows.count)}</td>
    </tr>
  )
}
