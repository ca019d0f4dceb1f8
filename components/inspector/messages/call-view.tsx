import { BoundedText, ForeignText } from '#components/ui/bounded-text.tsx'
import { visibleText } from '#components/ui/visible-text.ts'
import type { MessagePart } from '#lib/trajectory/messages/message-parts.ts'

/** Shows a tool call with its arguments and their types, or a malformed one with the reason and its text. */
export function CallView({ part }: { readonly part: Extract<MessagePart, { kind: 'call' | 'given-call' }> }) {
  if (part.kind === 'given-call') return <ParsedCall name={part.name} input={part.input} />
  const { call } = part
  if (call.kind === 'parsed') return <ParsedCall name={call.name} input={call.input} />
  return (
    <div className="text-xs">
      <p className="font-semibold [overflow-wrap:anywhere]">{visibleText(call.name ?? 'unreadable call')}</p>
      <p className="mb-1 text-bad">Malformed: {visibleText(call.why)}.</p>
      <div className="rounded bg-panel p-1.5 font-mono">
        <BoundedText text={call.raw} label="Raw text of the malformed call" />
      </div>
    </div>
  )
}

function ParsedCall({ name, input }: { readonly name: string; readonly input: unknown }) {
  const entries = typeof input === 'object' && input !== null ? Object.entries(input) : []
  return (
    <div className="text-xs">
      <p className="font-semibold text-tool [overflow-wrap:anywhere]">{visibleText(name)}</p>
      {entries.length === 0 ? (
        <p className="text-faint">no arguments</p>
      ) : (
        <dl className="mt-0.5 grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-0.5">
          {entries.map(([key, value]) => (
            <div key={key} className="col-span-2 grid grid-cols-subgrid">
              <dt className="text-dim">
                <ForeignText>{key}</ForeignText> <span className="text-[11px] text-faint">{typeName(value)}</span>
              </dt>
              <dd className="min-w-0 font-mono">
                <BoundedText
                  text={typeof value === 'string' ? value : JSON.stringify(value, null, 2)}
                  label={`Argument ${visibleText(key)}`}
                  longest={2_000}
                />
              </dd>
            </div>
          ))}
        </dl>
      )}
    </div>
  )
}

const typeName = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'list' : typeof value)
