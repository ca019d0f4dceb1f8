import { useState } from 'react'
import type { ShownStatus } from '#components/shell/server-state.tsx'
import { SelectField, TextField } from '#components/ui/field.tsx'
import { SERVER_TOKENIZER } from '#lib/api/server-tokenizer.ts'

interface TokenizerFieldProps {
  /** As in the setup; '' selects the tokenizer that the server reports. */
  readonly tokenizer: string
  readonly status: ShownStatus
  /** Whether the first turn has fixed the tokenizer, so that its name is shown and cannot be changed. */
  readonly isFixed: boolean
  readonly onChange: (tokenizer: string) => void
}

/** Choice of the tokenizer that makes the ids: the one that the server reports, the server itself, or another one. */
export function TokenizerField({ tokenizer, status, isFixed, onChange }: TokenizerFieldProps) {
  /** Whether “another” is chosen while the name is empty. */
  const [isNaming, setIsNaming] = useState(false)
  if (isFixed) return <p className="text-dim text-xs [overflow-wrap:anywhere]">Tokenizer: {fixedText(tokenizer)}</p>
  const choice = tokenizer === SERVER_TOKENIZER ? 'server' : tokenizer !== '' || isNaming ? 'named' : 'reported'
  return (
    <div className="grid gap-1.5">
      <SelectField
        label="Tokenizer"
        value={choice}
        onChange={({ target: { value } }) => {
          setIsNaming(value === 'named')
          onChange(value === 'server' ? SERVER_TOKENIZER : '')
        }}
      >
        <option value="reported">as reported by the server</option>
        <option value="server">the server’s own, over /tokenize</option>
        <option value="named">another: Hub name or folder</option>
      </SelectField>
      {choice === 'named' && (
        <TextField
          label="Hub name, or a folder under ROLLSCOPE_TOKENIZERS"
          placeholder="Qwen/Qwen3-4B"
          value={tokenizer}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
      <p className="text-faint text-xs [overflow-wrap:anywhere]">
        {choice === 'reported' ? reportedText(status) : NOTES[choice]}
      </p>
    </div>
  )
}

function fixedText(tokenizer: string): string {
  if (tokenizer === SERVER_TOKENIZER) return 'the server’s own, over /tokenize'
  return tokenizer === '' ? 'unknown' : tokenizer
}

function reportedText(status: ShownStatus): string {
  if (status.state !== 'ready') return 'From this machine or the Hub.'
  const { tokenizerName: name } = status
  if (name === undefined) return 'The server reports no tokenizer: it is used as the tokenizer.'
  return PATH.test(name)
    ? `The server reports ${name}. If this machine cannot read that path, the server is used as the tokenizer.`
    : `The server reports ${name}, which is loaded from this machine or the Hub.`
}

const PATH = /^[/.~]|^[A-Za-z]:/

const NOTES = {
  server: 'For models whose files are not available. The ids are exact; the server decodes the texts of tokens.',
  named: 'Compared with the server’s before every run: a tokenizer that differs from the model’s is refused.',
} as const
