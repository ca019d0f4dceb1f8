import { RotateCcw } from 'lucide-react'
import { allowedValues } from '#lib/sampling/allowed-values.ts'
import { type SamplingName, type SamplingParameter, samplingParameter } from '#lib/sampling/parameters.ts'
import { SAMPLING_WORDS } from '#lib/sampling/words.ts'
import { schemaProblem } from '#lib/tools/json-schema-text.ts'
import { SelectField, TextArea, TextField } from '../../ui/field.tsx'
import { IconButton } from '../../ui/icon-button.tsx'

interface ParameterRowProps {
  readonly name: SamplingName
  readonly text: string
  readonly error: string | undefined
  /** Why the engine of the server does not take the parameter. */
  readonly refusal: string | undefined
  /** Why the server will probably ignore the parameter. */
  readonly note: string | undefined
  readonly onChange: (text: string) => void
}

/** One parameter with its explanation, control and error. */
export function ParameterRow({ name, text, error, refusal, note, onChange }: ParameterRowProps) {
  const { default: standard } = samplingParameter(name)
  const { explanation, training } = SAMPLING_WORDS[name]
  return (
    <li
      data-parameter={name}
      data-set={text !== '' || undefined}
      className="grid gap-x-5 gap-y-1.5 border-transparent border-l-2 pl-2.5 data-set:border-accent md:grid-cols-[minmax(0,20rem)_minmax(0,1fr)]"
    >
      <div className="flex items-start gap-1">
        <div className="min-w-0 flex-1">
          {/* A value that is set stays changeable, so that it can be removed. */}
          <Control {...{ name, text, error, onChange }} isDisabled={refusal !== undefined && text === ''} />
        </div>
        <div className="mt-5.5">
          <IconButton label={`Reset ${name}`} disabled={text === ''} onClick={() => onChange('')}>
            <RotateCcw size={14} aria-hidden />
          </IconButton>
        </div>
      </div>
      <div className="min-w-0 text-xs md:mt-1">
        <p>{explanation}</p>
        {training !== undefined && <p className="text-dim">{training}</p>}
        <p className="text-faint">
          {`${allowedValues(name)} · `}
          {standard === null ? 'not set unless given' : `SGLang’s default ${standard}`}
        </p>
        {name === 'json_schema' && <SchemaNote text={text} />}
        {refusal !== undefined && text === '' && <p className="text-warn">{refusal}</p>}
        {note !== undefined && <p className="text-warn">{note}</p>}
      </div>
    </li>
  )
}

interface ControlProps extends Omit<ParameterRowProps, 'note' | 'refusal'> {
  readonly isDisabled: boolean
}

function Control({ name, text, error, isDisabled, onChange }: ControlProps) {
  const parameter = samplingParameter(name)
  switch (parameter.kind) {
    case 'number':
    case 'whole':
      return (
        <TextField
          label={name}
          inputMode="decimal"
          placeholder={parameter.default === null ? '' : String(parameter.default)}
          value={text}
          error={error}
          disabled={isDisabled}
          onChange={({ target }) => onChange(target.value)}
        />
      )
    case 'switch':
      return (
        <SelectField
          label={name}
          value={text}
          error={error}
          disabled={isDisabled}
          onChange={({ target }) => onChange(target.value)}
        >
          <option value="">{`${parameter.default} (default)`}</option>
          <option value="true">true</option>
          <option value="false">false</option>
        </SelectField>
      )
    default:
      return (
        <TextArea
          label={name}
          rows={1}
          className="field-sizing-content max-h-60 min-h-8 font-mono text-xs"
          spellCheck={false}
          placeholder={PLACEHOLDERS[parameter.kind]}
          value={text}
          error={error}
          disabled={isDisabled}
          onChange={({ target }) => onChange(target.value)}
        />
      )
  }
}

const PLACEHOLDERS: Readonly<Partial<Record<SamplingParameter['kind'], string>>> = {
  texts: 'one per line; "\\n\\n" in quotes',
  patterns: 'one per line',
  ids: '151645, 151643',
  biases: '151645: -5',
  json: '{"type": "object", …}',
  object: '{}',
}

/** Warning about keywords of a JSON Schema that cannot be checked, if there are any. */
function SchemaNote({ text }: { readonly text: string }) {
  const problem = schemaProblem(text)
  return problem === undefined ? null : <p className="text-warn">{problem}</p>
}
