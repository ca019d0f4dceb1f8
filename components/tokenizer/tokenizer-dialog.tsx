'use client'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { Dialog } from '#components/ui/dialog.tsx'
import { SelectField, TextField } from '#components/ui/field.tsx'
import { ApiError } from '#lib/browser/api.ts'
import { capabilitiesOptions } from '#lib/browser/capabilities.ts'
import { TRAJECTORIES, trajectoryOptions } from '#lib/browser/queries.ts'
import { chooseTokenizer, tokenizerNamesOptions } from '#lib/browser/tokenizers.ts'
import { tokenizerOfModel } from '#lib/templates/document/tokenizer-suggestions.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { TokenizerFormEnd, type TokenizerReading } from './tokenizer-form-end.tsx'
import { TokenizerNames } from './tokenizer-names.tsx'

interface TokenizerDialogProps {
  readonly storedKey: string
  /** Name of the current tokenizer. */
  readonly tokenizer: string | undefined
  readonly parser: string | undefined
  /** Name of the model in the file, which suggests a tokenizer. */
  readonly modelName: string | undefined
  /** True if the tokenizer encodes messages; otherwise it supplies the texts of ids. */
  readonly encodesMessages: boolean
  /** Keys of the other trajectories of the same file. */
  readonly others: readonly string[]
  readonly onClose: () => void
}

/** Dialog that gives a trajectory of ids its texts, and a trajectory of messages its ids. */
export function TokenizerDialog(props: TokenizerDialogProps) {
  const { storedKey, tokenizer, parser, modelName, encodesMessages, others, onClose } = props
  const client = useQueryClient()
  const { data } = useQuery(capabilitiesOptions())
  const { data: names = [] } = useQuery(tokenizerNamesOptions())
  const suggested = tokenizerOfModel(modelName, names)
  const [typed, setTyped] = useState(tokenizer)
  const name = typed ?? suggested ?? ''
  const [chosen, setChosen] = useState(encodesMessages ? undefined : parser)
  // The chat template shows which parser reads its calls. Ids have no template.
  const shownParser = chosen ?? (encodesMessages ? undefined : data?.parsers[0])
  const [state, setState] = useState<TokenizerReading>('asking')
  const [isForAll, setIsForAll] = useState(true)
  const choose = async (event: FormEvent) => {
    event.preventDefault()
    setState('reading')
    const choice = { tokenizer: name.trim(), ...(shownParser !== undefined && { parser: shownParser }) }
    const apply = async (key: string) =>
      client.setQueryData(trajectoryOptions(key).queryKey, await chooseTokenizer(key, choice))
    try {
      await apply(storedKey)
      const refusals: ApiError[] = []
      for (const key of isForAll ? others : []) {
        try {
          await apply(key)
        } catch (error) {
          if (!(error instanceof ApiError)) throw error
          refusals.push(error)
        }
      }
      // Lists of trajectories also show the texts.
      void client.invalidateQueries({ queryKey: TRAJECTORIES })
      const [first] = refusals
      if (!first) return onClose()
      const unchanged = `${countWithNoun(refusals.length, 'trajectory', 'trajectories')} of the file`
      setState(new ApiError(0, first.code, `${unchanged} did not change: ${first.message}`, first.hint))
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      setState(error)
    }
  }
  return (
    <Dialog title="Choose a tokenizer" onClose={onClose}>
      <form className="grid gap-3" onSubmit={choose}>
        <p className="text-dim">
          {encodesMessages
            ? 'The messages are rendered with the tokenizer’s chat template and encoded. The tokens are marked as re-encoded, because no model read or sampled them.'
            : 'The ids do not change. The tokenizer supplies their texts, special tokens, think blocks and tool calls.'}
        </p>
        <TextField
          label="Tokenizer"
          placeholder="Qwen/Qwen3-8B"
          explanation="A name or folder under ROLLSCOPE_TOKENIZERS, or the Hub name of the model"
          value={name}
          onChange={(event) => setTyped(event.target.value)}
          data-first-focus
          required
        />
        <p className="-mt-1.5 text-faint text-xs">
          A name or folder under ROLLSCOPE_TOKENIZERS, the Hub name of the model, or built-in for the shipped model.
        </p>
        {suggested !== undefined && modelName !== undefined && (
          <p className="-mt-1.5 text-faint text-xs [overflow-wrap:anywhere]">
            Suggested by the name of the model in the file: {modelName}.
          </p>
        )}
        <TokenizerNames
          names={[...new Set([...(suggested === undefined ? [] : [suggested]), ...names])]}
          chosen={name}
          onChoose={setTyped}
        />
        <SelectField
          label="Tool-call parser"
          value={shownParser ?? ''}
          onChange={(event) => setChosen(event.target.value || undefined)}
        >
          {encodesMessages && <option value="">as the chat template suggests</option>}
          {data?.parsers.map((known) => (
            <option key={known}>{known}</option>
          ))}
        </SelectField>
        {others.length > 0 && (
          <label className="flex items-center gap-1.5">
            <input type="checkbox" checked={isForAll} onChange={() => setIsForAll(!isForAll)} />
            Also for the other {countWithNoun(others.length, 'trajectory', 'trajectories')} of the file
          </label>
        )}
        <TokenizerFormEnd state={state} isIncomplete={name.trim() === ''}>
          Apply tokenizer
        </TokenizerFormEnd>
      </form>
    </Dialog>
  )
}
