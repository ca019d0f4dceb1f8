'use client'
import { countText } from '#components/token-view/numbers.ts'
import { MarkedPiece } from '#components/token-view/pieces/marked-piece.tsx'
import { Button } from '#components/ui/button.tsx'
import { CopyButton } from '#components/ui/copy-button.tsx'
import { Heading } from '#components/ui/facts.tsx'
import type { DoctorInput } from '#lib/templates/prefix-preservation/doctor.ts'
import type { Cell, CellFinding, TemplateVerdict, TokenWindow } from '#lib/templates/prefix-preservation/report.ts'
import type { Vocab } from '#lib/trajectory/format/trajectory.ts'
import type { LabTabProps } from '../lab-tab.ts'
import { FixBox } from './fix-box.tsx'
import { cellName, VERDICTS } from './words.ts'

interface CellDetailProps extends Pick<LabTabProps, 'run' | 'tokenizer' | 'onLine' | 'onTemplate' | 'onMessages'> {
  readonly cell: Cell
  /** Input with which the doctor ran. */
  readonly input: DoctorInput
}

/** Details of one cell of the matrix. */
export function CellDetail({ cell, input, run, tokenizer, onLine, onTemplate, onMessages }: CellDetailProps) {
  const { verdict } = cell
  return (
    <section aria-label="Finding" data-finding={cell.id} className="grid content-start gap-2">
      <Heading>
        {cellName(cell)}
        <span className="font-normal"> · {headline(verdict, input.compares === 'text' ? 'character' : 'token')}</span>
      </Heading>
      {verdict.kind === 'notApplicable' && <p className="text-dim">{verdict.why}</p>}
      {verdict.kind === 'error' && (
        <p className="text-warn">
          {verdict.failure.className}: {verdict.failure.message}{' '}
          {verdict.failure.line !== undefined && <LineButton line={verdict.failure.line} onLine={onLine} />}
        </p>
      )}
      {verdict.kind === 'unstable' && (
        <>
          <FindingText finding={verdict.finding} onLine={onLine} />
          <Sides finding={verdict.finding} />
          <div className="flex flex-wrap items-center gap-2">
            <Button
              className="text-xs"
              onClick={() => onMessages(verdict.finding.messages, `the conversation of ${cellName(cell)}`)}
            >
              Open the conversation in the editor
            </Button>
            <CopyButton text={verdict.finding.messages}>Copy JSON</CopyButton>
          </div>
          {cell.place.kind === 'script' && (
            <FixBox key={cell.id} cell={cell.id} {...{ input, run, tokenizer, onTemplate }} />
          )}
        </>
      )}
    </section>
  )
}

function headline(verdict: TemplateVerdict, unit: 'token' | 'character'): string {
  switch (verdict.kind) {
    case 'stable':
      return `stable: all ${countText(verdict.tokens)} ${unit}s are the same`
    case 'unstable':
      return `first difference at ${unit} ${countText(verdict.finding.tokenIndex)}`
    default:
      return VERDICTS[verdict.kind].text
  }
}

/** Cause, remedy and template lines of a finding. */
export function FindingText({ finding, onLine }: { readonly finding: CellFinding } & Pick<LabTabProps, 'onLine'>) {
  const { cause, remedy, line, expectedLine, message } = finding
  return (
    <div className="border-bad border-l-3 pl-2.5">
      <p data-cause={cause.kind}>
        <span className="font-medium">{cause.text}</span>{' '}
        {line !== undefined && <LineButton line={line} onLine={onLine} />}
        {message !== undefined && <span className="text-dim text-xs"> message {message + 1}</span>}
      </p>
      <p className="text-dim text-xs">
        {remedy}
        {expectedLine !== undefined && expectedLine !== line && (
          <>
            {' '}
            Turn n was written by <LineButton line={expectedLine} onLine={onLine} />.
          </>
        )}
      </p>
    </div>
  )
}

function LineButton({ line, onLine }: { readonly line: number } & Pick<LabTabProps, 'onLine'>) {
  return (
    <button
      type="button"
      className="whitespace-nowrap font-medium text-accent text-xs hover:underline"
      onClick={() => onLine(line)}
    >
      template line {line}
    </button>
  )
}

/** The tokens of both sides with the first difference marked. */
export function Sides({ finding }: { readonly finding: CellFinding }) {
  return (
    <div className="grid border-line border-y">
      <DifferenceSide name="turn n" note="+ reply + new" side={finding.expected} at={finding.tokenIndex} />
      <DifferenceSide name="turn n+1" note="rendered" side={finding.rendered} at={finding.tokenIndex} />
    </div>
  )
}

interface SideProps {
  readonly name: string
  readonly note: string
  readonly side: TokenWindow
  readonly at: number
}

/** The tokens of one side; `at` is the index of the first token that differs. */
export function DifferenceSide({ name, note, side, at }: SideProps) {
  const vocab: Vocab = Object.fromEntries(side.tokens.map(({ id, piece }) => [id, piece]))
  const rest = side.length - side.start - side.tokens.length
  return (
    <div className="grid grid-cols-[84px_minmax(0,1fr)] gap-x-2 border-line border-t py-2 first:border-t-0">
      <div className="text-xs leading-5">
        <div className="font-semibold">{name}</div>
        <div className="text-dim">{note}</div>
      </div>
      <p data-side={note} className="font-mono text-xs leading-6 [overflow-wrap:anywhere]">
        {side.start > 0 && <span className="text-faint">… </span>}
        {side.tokens.map(({ id, piece }, index) => {
          const position = side.start + index
          const endsLine = typeof piece === 'string' && piece.endsWith('\n')
          return (
            <span key={position}>
              <span
                title={`token ${countText(position)}, id ${id}`}
                data-first={position === at || undefined}
                className={
                  position === at
                    ? 'rounded-xs bg-bad-soft font-semibold text-bad underline decoration-2 underline-offset-4 outline outline-bad'
                    : `border-b ${index % 2 === 0 ? 'border-line-strong' : 'border-line'} ${position < at ? 'text-dim' : ''}`
                }
              >
                {position === at && <span className="sr-only">first difference: </span>}
                <MarkedPiece id={id} vocab={vocab} className="inline-block max-w-full overflow-hidden align-bottom" />
              </span>
              {endsLine && <br />}
            </span>
          )
        })}
        {at >= side.length && <span className="text-bad">ends here</span>}
        {rest > 0 && <span className="text-faint"> … {countText(rest)} more</span>}
      </p>
    </div>
  )
}
