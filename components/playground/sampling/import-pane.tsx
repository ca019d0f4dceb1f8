import { useState } from 'react'
import { useBoundedText } from '#components/sharing/use-bounded-text.ts'
import { type ReadDialect, type Remark, readDialect } from '#lib/sampling/dialects/dialect.ts'
import { readDialectText } from '#lib/sampling/dialects/text.ts'
import { LONGEST_DIALECT } from '#lib/sampling/dialects/text-limits.ts'
import type { SamplingTexts } from '#lib/sampling/fields.ts'
import { samplingChanges } from '#lib/sampling/presets.ts'
import { Button } from '../../ui/button.tsx'
import { Heading } from '../../ui/facts.tsx'
import { TextArea } from '../../ui/field.tsx'
import { FileButton } from '../../ui/file-button.tsx'
import { ChangeTable } from './changes.tsx'

interface ImportPaneProps {
  readonly sampling: SamplingTexts
  readonly samples: string
  readonly loadOfModel: () => Promise<string | undefined>
  readonly onApply: (sampling: Readonly<Partial<SamplingTexts>>, samples: number | undefined) => void
}

type Model = { readonly kind: 'idle' | 'loading' } | { readonly kind: 'failed'; readonly why: string }

/** Imports parameters in the formats of other programs, and shows the changes before it applies them. */
export function ImportPane({ sampling, samples, loadOfModel, onApply }: ImportPaneProps) {
  const [text, setText] = useState('')
  const { take, takeFile, refusal } = useBoundedText(LONGEST_DIALECT, setText)
  const [model, setModel] = useState<Model>({ kind: 'idle' })
  const read = text.trim() === '' ? undefined : readDialectText(text)
  const askModel = async () => {
    setModel({ kind: 'loading' })
    try {
      const found = await loadOfModel()
      setModel(
        found === undefined ? { kind: 'failed', why: 'This model has no generation_config.json.' } : { kind: 'idle' },
      )
      if (found !== undefined) take(found)
    } catch (error) {
      setModel({ kind: 'failed', why: (error as Error).message })
    }
  }
  return (
    <div className="grid gap-3">
      <div className="flex flex-wrap gap-2">
        <Button disabled={model.kind === 'loading'} onClick={askModel}>
          {model.kind === 'loading' ? 'Loading…' : 'Load the model’s defaults'}
        </Button>
        <FileButton
          accept="application/json,.json,.txt,.py,.sh"
          label="File with sampling parameters"
          onFile={takeFile}
        >
          Open generation_config.json…
        </FileButton>
      </div>
      {model.kind === 'failed' && (
        <p className="text-bad text-xs" role="alert">
          {model.why}
        </p>
      )}
      <TextArea
        label="Parameters of another program"
        rows={7}
        className="max-h-72 font-mono text-xs"
        spellCheck={false}
        placeholder={PLACEHOLDER}
        value={text}
        error={refusal}
        onChange={({ target }) => take(target.value)}
      />
      {read?.ok === false && <p className="text-bad text-xs">{read.why}</p>}
      {read?.ok && (
        <Reading
          reading={readDialect(read.values, read.unread)}
          sampling={sampling}
          samples={samples}
          onApply={onApply}
        />
      )}
    </div>
  )
}

const PLACEHOLDER = `{"max_tokens": 512, "do_sample": false, "stop_sequences": ["\\n\\n"]}
SamplingParams(temperature=0.6, top_p=0.95, n=4)
--rollout-temperature 1.0 --n-samples-per-prompt 8`

interface ReadingProps extends Omit<ImportPaneProps, 'loadOfModel'> {
  readonly reading: ReadDialect
}

function Reading({ reading, sampling, samples, onApply }: ReadingProps) {
  const changes = samplingChanges(sampling, reading.sampling)
  const isOfSamples = reading.samples !== undefined && String(reading.samples) !== samples.trim()
  const count = changes.length + Number(isOfSamples)
  return (
    <>
      {changes.length > 0 && <ChangeTable changes={changes} />}
      {isOfSamples && (
        <p className="text-xs">
          <span className="text-dim">Samples of one prompt:</span> {samples || 1} → {reading.samples}
        </p>
      )}
      {count === 0 && <p className="text-dim text-xs">No parameters would change.</p>}
      <Remarks title="Cannot be sent" tone="text-bad" remarks={reading.problems} />
      <Remarks title="Ignored" tone="text-dim" remarks={reading.ignored} />
      <div>
        <Button look="primary" disabled={count === 0} onClick={() => onApply(reading.sampling, reading.samples)}>
          {count === 1 ? 'Apply 1 change' : `Apply ${count} changes`}
        </Button>
      </div>
    </>
  )
}

function Remarks({
  title,
  tone,
  remarks,
}: {
  readonly title: string
  readonly tone: string
  readonly remarks: readonly Remark[]
}) {
  return (
    remarks.length > 0 && (
      <section aria-label={title}>
        <Heading>{title}</Heading>
        <ul className={`grid gap-1 text-xs ${tone}`}>
          {remarks.map(({ name, why }) => (
            <li key={`${name} ${why}`} className="[overflow-wrap:anywhere]">
              <span className="font-mono">{name}</span> {why}
            </li>
          ))}
        </ul>
      </section>
    )
  )
}
