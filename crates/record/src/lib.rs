//! Run record, history, lock and journal: the only state Windlass keeps.
