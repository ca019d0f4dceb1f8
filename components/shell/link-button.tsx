import type { ReactNode } from 'react'
import { Link } from './navigation.tsx'

interface LinkButtonProps {
  readonly href: string
  readonly children: ReactNode
}

/** A link to another page in the style of a button. */
export const LinkButton = ({ href, children }: LinkButtonProps) => (
  <Link
    href={href}
    className="inline-flex min-h-8 items-center rounded-md border border-line bg-raised px-2.5 font-medium hover:border-line-strong"
  >
    {children}
  </Link>
)
