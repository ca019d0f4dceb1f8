import type { FieldChange } from '#lib/sampling/presets.ts'
import { excerpt } from '#lib/util/text/excerpt.ts'

const SHOWN = 40
const shortenText = (text: string): string => {
  if (text === '') return 'not sent'
  return excerpt(text.replaceAll('\n', ' '), SHOWN)
}

/** Returns a change as text, such as `top_p 1 → 0.95`. */
export const changeText = ({ field, from, to }: FieldChange): string =>
  `${field} ${shortenText(from)} → ${shortenText(to)}`

/** Table of the changes that would be made, one per row. */
export const ChangeTable = ({ changes }: { readonly changes: readonly FieldChange[] }) => (
  <table className="w-full border-separate border-spacing-y-0.5 text-left text-xs">
    <thead className="text-dim">
      <tr>
        <th className="font-normal">parameter</th>
        <th className="font-normal">now</th>
        <th className="font-normal">then</th>
      </tr>
    </thead>
    <tbody>
      {changes.map(({ field, from, to }) => (
        <tr key={field} data-change={field} className="align-top">
          <td className="pr-4 font-mono">{field}</td>
          <td className="pr-4 text-dim [overflow-wrap:anywhere]">{shortenText(from)}</td>
          <td className="font-medium [overflow-wrap:anywhere]">{shortenText(to)}</td>
        </tr>
      ))}
    </tbody>
  </table>
)
