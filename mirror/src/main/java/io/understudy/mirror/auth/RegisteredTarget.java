package io.understudy.mirror.auth;

import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.Permission;
import io.understudy.etcd.EtcdError;
import io.understudy.mirror.call.CallFailedException;

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
            calls.addRole(role);
        } catch (CallFailedException e) {
            if (e.error() == EtcdError.ROLE_EXISTS && isNew) {
                register.removeRole(role, epoch);
            }
            throw overtaken(e, EtcdError.ROLE_EXISTS);
        }
    }

    @Override
    public void grant(String role, GrantedRange range, Permission.Type type)
            throws CallFailedException, InterruptedException, OvertakenException {
        register.require(epoch);
        try {
            calls.grant(role, range, type);
        } catch (CallFailedException e) {
            throw overtaken(e, EtcdError.ROLE_NOT_FOUND);
        }
    }

    @Override
    public void revoke(String role, GrantedRange range)
            throws CallFailedException, InterruptedException, OvertakenException {
        register.require(epoch);
        try {
            calls.revoke(role, range);
        } catch (CallFailedException e) {
            if (e.error() != EtcdError.PERMISSION_NOT_GRANTED) {
                throw overtaken(e, EtcdError.ROLE_NOT_FOUND);
            }
        }
    }

    @Override
    public void deleteRole(String role) throws CallFailedException, InterruptedException, OvertakenException {
        register.require(epoch);
        try {
            calls.deleteRole(role);
        } catch (CallFailedException e) {
            if (e.error() != EtcdError.ROLE_NOT_FOUND) {
                throw e;
            }
        }
        register.removeRole(role, epoch);
    }

    @Override
    public void addUser(String user) throws CallFailedException, InterruptedException, OvertakenException {
        boolean isNew = register.putUser(user, "", epoch);
        try {
            calls.addUser(user);
        } catch (CallFailedException e) {
            if (e.error() == EtcdError.USER_EXISTS && isNew) {
                register.removeUser(user, epoch);
            }
            throw overtaken(e, EtcdError.USER_EXISTS);
        }
    }

    @Override
    public void giveRole(String user, String role)
            throws CallFailedException, InterruptedException, OvertakenException {
        register.require(epoch);
        try {
            calls.giveRole(user, role);
        } catch (CallFailedException e) {
            throw overtaken(overtaken(e, EtcdError.ROLE_NOT_FOUND), EtcdError.USER_NOT_FOUND);
        }
    }

    @Override
    public void takeRole(String user, String role)
            throws CallFailedException, InterruptedException, OvertakenException {
        register.require(epoch);
        try {
            calls.takeRole(user, role);
        } catch (CallFailedException e) {
            if (e.error() != EtcdError.ROLE_NOT_GRANTED) {
                throw overtaken(e, EtcdError.USER_NOT_FOUND);
            }
        }
    }

    @Override
    public void setPassword(String user, PasswordHash hash)
            throws CallFailedException, InterruptedException, OvertakenException {
        register.require(epoch);
        try {
            calls.setPassword(user, hash);
        } catch (CallFailedException e) {
            throw overtaken(e, EtcdError.USER_NOT_FOUND);
        }
        boolean unused = register.putUser(user, hash.digest(), epoch);
    }

    @Override
    public void deleteUser(String user) throws CallFailedException, InterruptedException, OvertakenException {
        register.require(epoch);
        try {
            calls.deleteUser(user);
        } catch (CallFailedException e) {
            if (e.error() != EtcdError.USER_NOT_FOUND) {
                throw e;
            }
        }
        register.removeUser(user, epoch);
    }

    /** Returns the failure, unless the target has changed concurrently. */
    private static CallFailedException overtaken(CallFailedException failure, EtcdError isOtherwise)
            throws OvertakenException {
        if (failure.error() == isOtherwise) {
            throw new OvertakenException("the target changed concurrently: " + failure.getMessage());
        }
        return failure;
    }
}
