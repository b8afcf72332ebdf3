import { Ellipsis } from 'lucide-react';
import type { ComponentProps } from 'react';
import { IconButton } from '@/components/IconButton';

export function MoreButton(props: Omit<ComponentProps<typeof IconButton>, 'children'>) {
  return <IconButton aria-haspopup="menu" {...props} className="size-6.5"><Ellipsis className="size-4" aria-hidden="true" /></IconButton>;
}
