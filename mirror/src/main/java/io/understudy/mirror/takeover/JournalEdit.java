package io.understudy.mirror.takeover;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A journal being changed. One thread. */
final class JournalEdit {

    private final Journal before;
    private Journal.State state;
    private long alarmMember;
    private List<Grant> withdrawn;
    private List<String> done;
    private long frozenAt;
    private long drainedAt;
    private long verifiedKeys;
    private long verifiedAt;
    private long fencedAt;
    private @Nullable Instant dataAt;
    private long late;
    private @Nullable String lost;

    JournalEdit(Journal before) {
        this.before = before;
        this.state = before.state();
        this.alarmMember = before.alarmMember();
        this.withdrawn = before.withdrawn();
        this.done = before.done();
        this.frozenAt = before.frozenAt();
        this.drainedAt = before.drainedAt();
        this.verifiedKeys = before.verifiedKeys();
        this.verifiedAt = before.verifiedAt();
        this.fencedAt = before.fencedAt();
        this.dataAt = before.dataAt();
        this.late = before.late();
        this.lost = before.lost();
    }

    JournalEdit state(Journal.State value) {
        state = value;
        return this;
    }

    JournalEdit alarmMember(long value) {
        alarmMember = value;
        return this;
    }

    JournalEdit withdrawn(List<Grant> value) {
        withdrawn = value;
        return this;
    }

    JournalEdit done(List<String> value) {
        done = value;
        return this;
    }

    JournalEdit frozenAt(long value) {
        frozenAt = value;
        return this;
    }

    JournalEdit drainedAt(long value) {
        drainedAt = value;
        return this;
    }

    JournalEdit verified(long keys, long at) {
        verifiedKeys = keys;
        verifiedAt = at;
        return this;
    }

    JournalEdit fenced(long revision, @Nullable Instant at) {
        fencedAt = revision;
        dataAt = at;
        return this;
    }

    JournalEdit late(long value) {
        late = value;
        return this;
    }

    JournalEdit lost(String value) {
        lost = value;
        return this;
    }

    Journal build() {
        return new Journal(
                before.kind(),
                state,
                before.writer(),
                before.startedAt(),
                before.source(),
                before.target(),
                before.freeze(),
                alarmMember,
                withdrawn,
                done,
                frozenAt,
                drainedAt,
                verifiedKeys,
                verifiedAt,
                fencedAt,
                dataAt,
                late,
                lost);
    }
}
