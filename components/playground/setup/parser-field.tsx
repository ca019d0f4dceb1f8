import type { ShownStatus } from '#components/shell/server-state.tsx'
import { SelectField } from '#components/ui/field.tsx'
import { suggestParser } from '#lib/parsers/suggest.ts'

interface ParserFieldProps {
  /** As in the setup; '' selects the suggested parser. */
  readonly parser: string
  /** Chat template that replaces the tokenizer's; '' if none does. */
  readonly chatTemplate: string
  readonly status: ShownStatus
  readonly choices: { readonly parsers: readonly string[]; readonly defaultParser: string }
  readonly onChange: (parser: string) => void
}

/** Choice of the tool parser: the one that the server or the template suggests, with the reason, or another one. */
export function ParserField({ parser, chatTemplate, status, choices, onChange }: ParserFieldProps) {
  const { option, note } = suggestionText(status, chatTemplate, choices.defaultParser)
  return (
    <div>
      <SelectField label="Tool-call parser" value={parser} onChange={(event) => onChange(event.target.value)}>
        <option value="">{option}</option>
        {choices.parsers.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </SelectField>
      {note !== undefined && <p className="mt-1 text-faint text-xs [overflow-wrap:anywhere]">{note}</p>}
    </div>
  )
}

/** Returns which parser is used without a choice, and why. */
function suggestionText(
  status: ShownStatus,
  chatTemplate: string,
  defaultParser: string,
): { readonly option: string; readonly note?: string } {
  if (status.state !== 'ready') return { option: 'as reported by the server' }
  const { toolCallParser } = status
  const { parser, because, by } = suggestParser({ chatTemplate, serverParser: toolCallParser })
  const note = `Suggested: ${parser}, because ${because}.`
  if (by === 'server') return { option: `as reported by the server: ${parser}`, note }
  if (chatTemplate !== '') return { option: `as the chat template suggests: ${parser}`, note }
  // The tokenizer's own template is known only when a run begins.
  const why =
    toolCallParser === undefined ? 'the server reports none' : `the server’s ${toolCallParser} is not supported here`
  return {
    option: 'as the chat template suggests',
    note: `Suggested: the parser for the calls of the tokenizer’s chat template, otherwise ${defaultParser}, because ${why}.`,
  }
}
