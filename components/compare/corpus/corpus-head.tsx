'use client'
import { type FormEvent, useState } from 'react'
import { countText } from '#components/token-view/numbers.ts'
import { Button } from '../../ui/button.tsx'
import { FilesButton } from '../../ui/file-button.tsx'
import { Popover } from '../../ui/popover.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { visibleText } from '../../ui/visible-text.ts'

type Mode = 'structured' | 'raw' | 'text'

type ShownSource =
  | { readonly kind: 'keys'; readonly keys: readonly string[] }
  | { readonly kind: 'library'; readonly filter: Readonly<Record<string, string>> }
  | { readonly kind: 'files'; readonly files: readonly { readonly name: string }[] }

interface CorpusHeadProps {
  readonly source: ShownSource | undefined
  readonly mode: Mode
  readonly tokenizer: string | undefined
  /** Whether the report has samples to save. */
  readonly hasSamples: boolean
  readonly onMode: (mode: Mode) => void
  readonly onTokenizer: (name: string | undefined) => void
  readonly onFiles: (files: readonly File[]) => void
  readonly onSave: (as: 'samples' | 'kinds' | 'json') => void
  /** Undefined while the report is running, or if there is nothing to read. */
  readonly onAgain: (() => void) | undefined
}

const MODES = [
  {
    value: 'structured',
    text: 'Structured',
    title: 'Messages with parsed tool calls, rendered with the chat template',
  },
  { value: 'raw', text: 'Raw', title: 'Messages with replies as raw text, rendered with the chat template' },
  { value: 'text', text: 'Text', title: 'The ids decoded to text and encoded again' },
] as const

/** Head of the drift report: its source, what each sample is compared with, the default tokenizer, and buttons. */
export function CorpusHead(props: CorpusHeadProps) {
  const { source, mode, tokenizer, hasSamples, onMode, onTokenizer, onFiles, onSave, onAgain } = props
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-2 border-line border-b px-3.5 py-2">
      <h2 className="min-w-0 max-w-full truncate font-semibold" title={source && sourceText(source)}>
        {source ? sourceText(source) : 'Drift report'}
      </h2>
      <span className="flex items-center gap-2">
        <span className="text-dim text-xs">against</span>
        <Segmented label="Compared with" options={MODES} value={mode} onChange={onMode} />
      </span>
      <TokenizerField key={tokenizer} tokenizer={tokenizer} onTokenizer={onTokenizer} />
      <span className="flex-1" />
      <span className="flex flex-wrap gap-2">
        {onAgain && <Button onClick={onAgain}>Run again</Button>}
        {source && (
          <FilesButton label="Choose other trajectory files" onFiles={onFiles}>
            Files…
          </FilesButton>
        )}
        {hasSamples && (
          <Popover label="Save the report" button="Save">
            <div className="grid gap-1.5">
              <Button onClick={() => onSave('samples')}>Samples as CSV</Button>
              <Button onClick={() => onSave('kinds')}>Kinds as CSV</Button>
              <Button onClick={() => onSave('json')}>Report as JSON</Button>
            </div>
          </Popover>
        )}
      </span>
    </div>
  )
}

function sourceText(source: ShownSource): string {
  switch (source.kind) {
    case 'keys':
      return `${countText(source.keys.length)} of the library`
    case 'library': {
      const filters = Object.entries(source.filter).map(([name, value]) =>
        name === 'q' ? `“${value}”` : `${name} ${value}`,
      )
      return filters.length === 0 ? 'The whole library' : `Library: ${filters.join(', ')}`
    }
    case 'files': {
      const [first] = source.files
      return source.files.length === 1 && first ? visibleText(first.name) : `${countText(source.files.length)} files`
    }
  }
}

interface TokenizerFieldProps {
  readonly tokenizer: string | undefined
  readonly onTokenizer: (name: string | undefined) => void
}

function TokenizerField({ tokenizer = '', onTokenizer }: TokenizerFieldProps) {
  const [name, setName] = useState(tokenizer)
  const take = (event: FormEvent) => {
    event.preventDefault()
    onTokenizer(name.trim() === '' ? undefined : name.trim())
  }
  return (
    <form onSubmit={take} className="flex min-w-0 items-center gap-2">
      <input
        aria-label="Default tokenizer"
        title="A Hub name, or a folder under ROLLSCOPE_TOKENIZERS, for samples without a tokenizer name, such as trainers’ files"
        placeholder="default tokenizer"
        autoComplete="off"
        spellCheck={false}
        value={name}
        onChange={(event) => setName(event.target.value)}
        className="min-h-8 w-60 min-w-0 rounded-md border border-line bg-raised px-2 placeholder:text-faint hover:border-line-strong"
      />
      {name.trim() !== tokenizer && <Button type="submit">Use</Button>}
    </form>
  )
}
