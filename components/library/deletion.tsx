'use client'
/** Follows whether the stored trajectory that a page shows was changed or deleted meanwhile, here or in another window. */
import { useQuery } from '@tanstack/react-query'
import { lazyPart } from '#components/shell/lazy-part.tsx'
import { useOtherWindows } from '#lib/browser/library/other-windows.ts'
import { isMissing, revisionOptions } from '#lib/browser/library/revision.ts'

// The first revision is read directly after the trajectory: a change between them stays unnoticed. Only the notice is loaded late.
const DeletedNotice = lazyPart(async () => (await import('./deleted-notice.tsx')).DeletedNotice)

interface DeletionProps {
  readonly storedKey: string | undefined
  /** Whether the page shows the trajectory and does not read it again by itself. */
  readonly isShown: boolean
}

/** Reads the trajectory again after a change, and reports its deletion. */
export function Deletion({ storedKey, isShown }: DeletionProps) {
  const { error } = useQuery(revisionOptions(storedKey, isShown))
  useOtherWindows()
  return isShown && isMissing(error) && <DeletedNotice storedKey={storedKey} error={error} />
}
