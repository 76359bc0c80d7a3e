package io.understudy.mirror.takeover;

import io.understudy.mirror.verify.Difference;
import io.understudy.mirror.verify.NotComparable;
import io.understudy.mirror.verify.Verification;
import io.understudy.mirror.verify.VerifyReport;
import io.understudy.mirror.verify.VerifyResult;
import java.util.List;
import java.util.stream.Collectors;

/** Compares both sides. */
record VerifyStep(Parties parties) implements Step {

    private static final int DIFFERENCES_SHOWN = 10;

    @Override
    public StepPlan plan() {
        return new StepPlan(
                "verify",
                "compares all keys and values of both clusters at one revision of " + parties.from(),
                "that they are equal",
                "changes nothing");
    }

    @Override
    public boolean isDone(Journal journal) {
        // Until the mirror is held off, either side may have been written since.
        return journal.has("verify") && new ActiveKey(parties).isHeldBy(journal.writer());
    }

    @Override
    public Journal perform(Journal journal) {
        VerifyResult result = compared();
        if (result instanceof NotComparable not) {
            throw new TakeOverException("the clusters could not be compared: " + not.reason()
                    + ". Run this again; --undo lifts the freeze");
        }
        VerifyReport report = (VerifyReport) result;
        if (!report.isEqual()) {
            throw new TakeOverException(
                    parties.to() + " differs from " + parties.from() + " in " + report.differing() + " of "
                            + report.keys() + " keys: " + shown(report.differences())
                            + ". A mirror with onForeignWrites: repair puts them right while it runs, and a failback that is run"
                            + " again does. Then run this again; --undo lifts the freeze");
        }
        return journal.edit()
                .verified(report.keys(), report.targetRevision().value())
                .build();
    }

    private VerifyResult compared() {
        try {
            return Verification.run(parties.sides(), keys -> {});
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new TakeOverException("interrupted while comparing", e);
        }
    }

    private static String shown(List<Difference> differences) {
        return differences.stream()
                .limit(DIFFERENCES_SHOWN)
                .map(Difference::shown)
                .collect(Collectors.joining(", "));
    }

    @Override
    public Journal undo(Journal journal) {
        return journal.edit().verified(0, 0).build();
    }
}
