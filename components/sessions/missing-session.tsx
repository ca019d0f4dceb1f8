'use client'
import { LinkButton } from '#components/shell/link-button.tsx'
import { Banner } from '#components/ui/banner.tsx'

interface MissingSessionProps {
  readonly id: string
  /** Whether this page showed the session before. */
  readonly wasShown: boolean
}

/** Reports that a session of the address does not exist, or no longer, and leads to the list and to the library. */
export const MissingSession = ({ id, wasShown }: MissingSessionProps) => (
  <Banner
    tone="bad"
    title={wasShown ? `The session ${id} was deleted.` : `There is no session ${id}.`}
    hint={
      wasShown
        ? 'Its trajectories stay in the library. A client that calls its address gets status 404.'
        : 'It may have been deleted, or it is in another data folder (ROLLSCOPE_DATA). The trajectories of deleted sessions stay in the library.'
    }
  >
    <span className="flex flex-wrap gap-1.5 text-xs">
      <LinkButton href="/sessions">Show all sessions</LinkButton>
      <LinkButton href="/library">Open the library</LinkButton>
    </span>
  </Banner>
)
