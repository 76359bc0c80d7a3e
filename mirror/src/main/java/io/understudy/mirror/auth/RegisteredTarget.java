package io.understudy.mirror.auth;

import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.Permission;
import io.understudy.etcd.EtcdError;
import io.understudy.mirror.auth.AuthTarget.OvertakenException;
import io.understudy.mirror.auth.Authorisation.GrantedRange;
import io.understudy.mirror.auth.PasswordFile.PasswordHash;
import io.understudy.mirror.call.CallFailedException;
import org.jspecify.annotations.Nullable;

/**
 * A target during one comparison: the register is checked before each change. A role or user that exists already,
 * though it was registered only now, belongs to another owner. After a change with an unknown outcome only another
 * comparison decides.
 */
final class RegisteredTarget implements AuthTarget {

    private final AuthCalls calls;
    private final AuthRegister register;
    private final Compare epoch;

    /** @param epoch holds until another writer takes the mirror over */
    RegisteredTarget(AuthCalls calls, AuthRegister register, Compare epoch) {
        this.calls = calls;
        this.register = register;
        this.epoch = epoch;
    }

    @Override
    public void addRole(String role) throws CallFailedException, InterruptedException, OvertakenException {
        boolean isNew = register.addRole(role, epoch);
        try {
            make(() -> calls.addRole(role), EtcdError.ROLE_EXISTS, null);
        } catch (OvertakenException e) {
            if (isNew) {
                register.removeRole(role, epoch);
            }
            throw e;
        }
    }

    @Override
    public void grant(String role, GrantedRange range, Permission.Type type)
            throws CallFailedException, InterruptedException, OvertakenException {
        register.require(epoch);
        make(() -> calls.grant(role, range, type), EtcdError.ROLE_NOT_FOUND, null);
    }

    @Override
    public void revoke(String role, GrantedRange range)
            throws CallFailedException, InterruptedException, OvertakenException {
        register.require(epoch);
        make(() -> calls.revoke(role, range), EtcdError.ROLE_NOT_FOUND, EtcdError.PERMISSION_NOT_GRANTED);
    }

    @Override
    public void deleteRole(String role) throws CallFailedException, InterruptedException, OvertakenException {
        register.require(epoch);
        make(() -> calls.deleteRole(role), null, EtcdError.ROLE_NOT_FOUND);
        register.removeRole(role, epoch);
    }

    @Override
    public void addUser(String user) throws CallFailedException, InterruptedException, OvertakenException {
        boolean isNew = register.putUser(user, "", epoch);
        try {
            make(() -> calls.addUser(user), EtcdError.USER_EXISTS, null);
        } catch (OvertakenException e) {
            if (isNew) {
                register.removeUser(user, epoch);
            }
            throw e;
        }
    }

    @Override
    public void giveRole(String user, String role)
            throws CallFailedException, InterruptedException, OvertakenException {
        register.require(epoch);
        make(
                () -> make(() -> calls.giveRole(user, role), EtcdError.ROLE_NOT_FOUND, null),
                EtcdError.USER_NOT_FOUND,
                null);
    }

    @Override
    public void takeRole(String user, String role)
            throws CallFailedException, InterruptedException, OvertakenException {
        register.require(epoch);
        make(() -> calls.takeRole(user, role), EtcdError.USER_NOT_FOUND, EtcdError.ROLE_NOT_GRANTED);
    }

    @Override
    public void setPassword(String user, PasswordHash hash)
            throws CallFailedException, InterruptedException, OvertakenException {
        register.require(epoch);
        make(() -> calls.setPassword(user, hash), EtcdError.USER_NOT_FOUND, null);
        boolean unused = register.putUser(user, hash.digest(), epoch);
    }

    @Override
    public void deleteUser(String user) throws CallFailedException, InterruptedException, OvertakenException {
        register.require(epoch);
        make(() -> calls.deleteUser(user), null, EtcdError.USER_NOT_FOUND);
        register.removeUser(user, epoch);
    }

    @FunctionalInterface
    private interface Call {
        void make() throws CallFailedException, InterruptedException, OvertakenException;
    }

    /**
     * Makes one change.
     *
     * @param overtaken error of a target that was changed concurrently; null for none
     * @param done error of a change that is there already; null for none
     */
    private static void make(Call call, @Nullable EtcdError overtaken, @Nullable EtcdError done)
            throws CallFailedException, InterruptedException, OvertakenException {
        try {
            call.make();
        } catch (CallFailedException e) {
            if (e.error() == overtaken) {
                throw new OvertakenException("the target changed concurrently: " + e.getMessage());
            }
            if (e.error() != done) {
                throw e;
            }
        }
    }
}
