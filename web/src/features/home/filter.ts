// The filters, which this browser keeps.
import { create } from 'zustand';
import { NO_FILTER, type Filter } from './rows';

const KEY = 'planwright.inbox';

function stored(): Filter {
  try {
    return { ...NO_FILTER, ...(JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<Filter>), text: '' };
  } catch {
    return NO_FILTER;
  }
}

export const useFilter = create<{ filter: Filter }>(() => ({ filter: stored() }));

export function setFilter(change: Partial<Filter>): void {
  const filter = { ...useFilter.getState().filter, ...change };
  useFilter.setState({ filter });
  localStorage.setItem(KEY, JSON.stringify(filter));
}
