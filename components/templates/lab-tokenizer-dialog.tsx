'use client'
import { type FormEvent, useState } from 'react'
import { TokenizerFormEnd } from '#components/tokenizer/tokenizer-form-end.tsx'
import { TokenizerNames } from '#components/tokenizer/tokenizer-names.tsx'
import { useTokenizerCheck } from '#components/tokenizer/use-tokenizer-check.ts'
import { Dialog } from '#components/ui/dialog.tsx'
import { TextField } from '#components/ui/field.tsx'

interface LabTokenizerDialogProps {
  readonly tokenizer: string
  /** Initial text of the field. */
  readonly proposed: string
  readonly server: string
  readonly onChoose: (name: string) => void
  readonly onClose: () => void
}

/** Dialog that chooses the tokenizer of the lab. */
export function LabTokenizerDialog({ tokenizer, proposed, server, onChoose, onClose }: LabTokenizerDialogProps) {
  const [name, setName] = useState(proposed)
  const { state, downloads, suggested, check } = useTokenizerCheck(server)
  const choose = (wanted: string) => check([wanted], () => onChoose(wanted))
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void choose(name.trim())
  }
  return (
    <Dialog title="Choose a tokenizer" onClose={onClose}>
      <form className="grid gap-3" onSubmit={submit}>
        <TextField
          label="A name or folder under ROLLSCOPE_TOKENIZERS, a Hub name, or built-in"
          placeholder="Qwen/Qwen3-8B"
          value={name}
          onChange={(event) => setName(event.target.value)}
          data-first-focus
          required
        />
        <TokenizerNames names={suggested} chosen={tokenizer} onChoose={choose} />
        <p className="text-faint text-xs">
          The ids and the special tokens come from this tokenizer. The template does not change.
        </p>
        <TokenizerFormEnd state={state} downloads={downloads} isIncomplete={name.trim() === ''}>
          Choose
        </TokenizerFormEnd>
      </form>
    </Dialog>
  )
}
