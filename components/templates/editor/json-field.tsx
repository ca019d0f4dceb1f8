'use client'
import { useState } from 'react'
import { TextArea } from '#components/ui/field.tsx'
import { readJsonText } from '#lib/json/json-text.ts'

interface JsonFieldProps {
  readonly label: string
  /** Valid JSON; '' if there is no value. */
  readonly source: string
  readonly onChange: (source: string) => void
}

/** Field for a value as JSON. Invalid JSON stays in the field with its error until it is corrected. */
export function JsonField({ label, source, onChange }: JsonFieldProps) {
  const [draft, setDraft] = useState<{ readonly of: string; readonly text: string }>()
  const fieldText = draft?.of === source ? draft.text : source
  const reading = readJsonText(fieldText)
  return (
    <TextArea
      label={label}
      className="field-sizing-content max-h-72 min-h-8 font-mono text-[12px]"
      rows={1}
      spellCheck={false}
      value={fieldText}
      error={
        reading.ok || fieldText === ''
          ? undefined
          : `${reading.problem.message}: line ${reading.problem.line}, column ${reading.problem.column}`
      }
      onChange={({ target: { value } }) => {
        if (readJsonText(value).ok) {
          setDraft(undefined)
          onChange(value)
        } else setDraft({ of: source, text: value })
      }}
    />
  )
}
