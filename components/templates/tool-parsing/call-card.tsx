import type { ParsedCallResult } from '#lib/templates/tool-parsing/analysis.ts'
import type { ReadArgument } from '#lib/templates/tool-parsing/arguments.ts'
import type { ReRenderedCall } from '#lib/templates/tool-parsing/rerender.ts'
import { ReRenderedRow } from './rerendered-row.tsx'

interface CallCardProps {
  readonly text: string
  readonly call: ParsedCallResult
  readonly number: number
  /** The call as the template renders it; undefined if the call is malformed or there is nothing to compare. */
  readonly reRendered: ReRenderedCall | undefined
  readonly onLine: (line: number) => void
}

/** Card of one call: its typed arguments and its render by the template, or the error of a malformed call. */
export function ParsedCallCard({ text, call, number, reRendered, onLine }: CallCardProps) {
  const title = `call ${number}`
  return (
    <article aria-label={title} data-call-card={number} className="border-line border-t px-3.5 py-2 text-xs">
      <header className="flex flex-wrap items-baseline gap-x-2 gap-y-0.5">
        <span className="text-dim">{title}</span>
        <span
          className={`font-mono font-semibold [overflow-wrap:anywhere] ${call.kind === 'parsed' ? 'text-tool' : 'text-bad'}`}
        >
          {call.name ?? 'no name'}
        </span>
        {call.writtenId !== undefined && (
          <span className="font-mono text-faint [overflow-wrap:anywhere]">id {call.writtenId}</span>
        )}
        {call.kind === 'parsed' && call.isKnown === false && <Fault>no such tool is defined</Fault>}
        {call.kind === 'parsed' && call.fault !== undefined && <Fault>{call.fault}</Fault>}
      </header>
      {call.kind === 'malformed' ? <FaultFrame text={text} call={call} /> : <Arguments read={call.arguments} />}
      {reRendered && <ReRenderedRow reRendered={reRendered} onLine={onLine} />}
    </article>
  )
}

const Fault = ({ children }: { readonly children: string }) => <span className="text-bad">✗ {children}</span>

function Arguments({ read }: { readonly read: readonly ReadArgument[] }) {
  if (read.length === 0) return <p className="mt-1 text-faint">no arguments</p>
  return (
    <div className="mt-1">
      <table className="w-full border-collapse text-left">
        <thead className="text-faint">
          <tr>
            {['argument', 'type', 'value'].map((name) => (
              <th key={name} scope="col" className="py-0.5 pr-3 font-normal">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="align-top">
          {read.map(({ name, type, wanted, json, fault, loss }) => (
            <tr key={name} className="border-line border-t">
              <th scope="row" className="py-1 pr-3 font-medium font-mono text-tool">
                {name}
              </th>
              <td className={`whitespace-nowrap py-1 pr-3 ${fault === undefined ? 'text-dim' : 'text-bad'}`}>
                {type}
                {fault !== undefined && wanted && <span> ≠ {wanted.join(' | ')}</span>}
              </td>
              <td className="w-full py-1">
                <code className="whitespace-pre-wrap font-mono [overflow-wrap:anywhere]">{json}</code>
                {loss !== undefined && <span className="block text-warn">{loss}</span>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** Characters shown before and after the error. */
const AROUND = 20

/** The line with the error, and a caret under its character. */
function FaultFrame({
  text,
  call,
}: {
  readonly text: string
  readonly call: Extract<ParsedCallResult, { kind: 'malformed' }>
}) {
  const { offset, line, column } = call.at
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1
  const lineEnd = text.indexOf('\n', offset)
  const from = Math.max(lineStart, offset - AROUND)
  const end = lineEnd < 0 ? text.length : lineEnd
  const to = Math.min(end, offset + AROUND)
  const lead = `${from > lineStart ? '…' : ''}${text.slice(from, offset)}`
  return (
    <figure className="mt-1">
      <pre className="overflow-hidden rounded-sm border border-line bg-panel px-2 py-1 font-mono leading-4">
        {lead}
        <span className="text-bad">{text.slice(offset, to)}</span>
        {to < end && '…'}
        {'\n'}
        {/* An invisible copy of the text places the caret, because letters differ in width. */}
        <span aria-hidden className="invisible">
          {lead}
        </span>
        <span aria-hidden className="font-bold text-bad" data-caret>
          ^
        </span>
      </pre>
      <figcaption className="mt-1 text-bad">
        Line {line}, column {column}: {call.why}.
      </figcaption>
    </figure>
  )
}
