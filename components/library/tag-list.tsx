import { visibleText } from '../ui/visible-text.ts'

interface TagListProps {
  readonly tags: readonly string[]
  /** Number of tags shown; a count represents the others. If omitted, all are shown. */
  readonly most?: number
}

/** Shows the tags of a trajectory. */
export function TagList({ tags, most = tags.length }: TagListProps) {
  const hidden = tags.slice(most)
  return (
    <>
      {tags.slice(0, most).map((tag) => (
        <span
          key={tag}
          dir="auto"
          title={visibleText(tag)}
          className="inline-block max-w-24 truncate rounded-sm bg-accent-soft px-1.5 align-bottom text-[11px] text-ink leading-[18px]"
        >
          {visibleText(tag)}
        </span>
      ))}
      {hidden.length > 0 && (
        <span className="text-[11px] text-dim leading-[18px]" title={visibleText(hidden.join(', '))}>
          +{hidden.length}
        </span>
      )}
    </>
  )
}
