'use client'
import { useQuery } from '@tanstack/react-query'
import { groupTreeHref } from '#components/shell/hrefs.ts'
import { Link } from '#components/shell/navigation.tsx'
import { groupOptions } from '#lib/browser/queries.ts'

interface SampleNeighboursProps {
  readonly groupId: string
  readonly storedKey: string
}

/** Shows the position of a trajectory in its group, with links to its neighbours. */
export function SampleNeighbours({ groupId, storedKey }: SampleNeighboursProps) {
  const { data } = useQuery(groupOptions(groupId))
  const place = data?.samples.findIndex(({ key }) => key === storedKey) ?? -1
  if (!data || place < 0) return null
  const { samples } = data
  const link = 'font-medium text-accent hover:underline'
  const step = (to: number, text: string) => {
    const sample = samples[to]
    return (
      sample && (
        <Link className={link} href={`/t/${encodeURIComponent(sample.key)}`}>
          {text}
        </Link>
      )
    )
  }
  return (
    <span className="flex flex-wrap gap-x-3">
      <span data-sample={place}>
        Sample {(samples[place]?.group?.index ?? place) + 1} of {samples.length}
      </span>
      {step(place - 1, '← previous')}
      {step(place + 1, 'next →')}
      <Link className={link} href={`/?${new URLSearchParams({ t: storedKey, group: groupId })}`}>
        all
      </Link>
      <Link className={link} href={groupTreeHref(groupId)}>
        tree
      </Link>
    </span>
  )
}
